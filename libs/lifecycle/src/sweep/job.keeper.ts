import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import type { Kind } from '../kinds/kind.js';
import type { Owner } from '../kinds/owner.js';

export const KEEPS = Symbol('mooring:keeps');

export interface FinishedJob {
  readonly id: string;
  readonly owners: readonly Owner[];
}

/** Says which completed jobs of a kind are still wanted, however old and however many they are. */
export abstract class JobKeeper {
  /** Of a hundred jobs at most, the ids of those that are wanted. While it rejects all of them are. */
  abstract wanted(jobs: readonly FinishedJob[]): Promise<ReadonlySet<string>>;
}

/** Says which kind a keeper is for; the kind says `keepWanted`. */
export function Keeps(kind: Kind): CustomDecorator<symbol> & ClassDecorator {
  return SetMetadata(KEEPS, kind) as CustomDecorator<symbol> & ClassDecorator;
}
