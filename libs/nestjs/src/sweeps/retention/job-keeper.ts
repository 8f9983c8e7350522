import type { Owner } from '#core';
import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import type { Kind } from '../../kinds/kind.js';

export const KEEPS = Symbol('mooring:keeps');

export interface FinishedJob {
  readonly id: string;
  readonly owners: readonly Owner[];
}

/** Says which completed jobs of a kind are still wanted, whatever their age and number. */
export abstract class JobKeeper {
  /** The ids that are wanted, of at most 100 jobs. If it rejects, all of them are kept. */
  abstract wanted(jobs: readonly FinishedJob[]): Promise<ReadonlySet<string>>;
}

/** Says which kind a keeper is for. The kind has `keepWanted: true`. */
export function Keeps(kind: Kind): CustomDecorator<symbol> & ClassDecorator {
  return SetMetadata(KEEPS, kind) as CustomDecorator<symbol> & ClassDecorator;
}
