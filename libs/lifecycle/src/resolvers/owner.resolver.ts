import { SetMetadata, type CustomDecorator } from '@nestjs/common';

export const RESOLVES_OWNERS = Symbol('mooring:resolves-owners');

export type OwnerLife = 'alive' | 'gone' | 'unknown';

/** Two owners whose lives are known beforehand. A batch whose answer is wrong about one of them says nothing of the others. */
export interface Canaries {
  readonly alive: string;
  readonly gone: string;
}

/**
 * Says of owners of one type whether they live. What it says wrongly counts as unknown; in an answer that leaves out one of
 * those asked about, nobody is gone.
 */
export abstract class OwnerResolver {
  /** Asked along in every batch. Without them a resolver that looks in the wrong place is believed. */
  readonly canaries?: Canaries | undefined;
  /** How long a batch may take. Default 2 s. */
  readonly timeoutMs?: number | undefined;

  /** At most 500 ids, and the canaries. The signal aborts when nobody waits for the answer any more. */
  abstract resolve(ids: string[], signal: AbortSignal): Promise<ReadonlyMap<string, OwnerLife>>;
}

/** Says which owner type a resolver is for. */
export function ResolvesOwners(type: string): CustomDecorator<symbol> & ClassDecorator {
  return SetMetadata(RESOLVES_OWNERS, type) as CustomDecorator<symbol> & ClassDecorator;
}
