import { SetMetadata, type CustomDecorator } from '@nestjs/common';

export const RESOLVES_OWNERS = Symbol('mooring:resolves-owners');

export type OwnerLife = 'alive' | 'gone' | 'unknown';

/** Two owners whose lives are known beforehand. An answer that is wrong about one of them does not count. */
export interface Canaries {
  readonly alive: string;
  readonly gone: string;
}

/**
 * Says whether owners of one type are alive. What it rejects, answers too late or answers wrongly counts as unknown. In an answer that
 * leaves out one of the ids, no owner is gone.
 */
export abstract class OwnerResolver {
  /** Added to every batch. Without them the answers of a resolver that reads the wrong database count. */
  readonly canaries?: Canaries | undefined;
  /** How long a batch may take. Default 2 s. */
  readonly timeoutMs?: number | undefined;

  /** At most 500 ids, and the canaries. The signal aborts when the time is over. */
  abstract resolve(ids: string[], signal: AbortSignal): Promise<ReadonlyMap<string, OwnerLife>>;
}

/** Says which owner type a resolver is for. */
export function ResolvesOwners(type: string): CustomDecorator<symbol> & ClassDecorator {
  return SetMetadata(RESOLVES_OWNERS, type) as CustomDecorator<symbol> & ClassDecorator;
}
