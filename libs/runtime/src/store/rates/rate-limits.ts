import { runScript, Script } from '#scripts';
import { readFileSync } from 'node:fs';
import { within } from '../../time/within.js';
import type { StoreConnection } from '../connect.js';

/** How many requests may come in a time. */
export interface Rate {
  readonly count: number;
  readonly perMs: number;
}

const TAKE = new Script(readFileSync(new URL('take.lua', import.meta.url), 'utf8'));

/** Longer than a script of the store takes. */
const ANSWER_MS = 500;

/** Counts requests in the store, for all processes of a fleet together. */
export class RateLimits {
  constructor(
    private readonly redis: StoreConnection,
    private readonly prefix: string,
  ) {}

  /** 0, or ms until the next request of the name may come. Rejects if the store does not answer soon. */
  async take(name: string, { count, perMs }: Rate): Promise<number> {
    const interval = Math.round((perMs * 1_000) / count);
    const taken = runScript(this.redis, TAKE, [`${this.prefix}:rate:${name}`], [interval, count]);
    const waitMs = await within(ANSWER_MS, taken);
    if (waitMs === undefined) throw new Error(`The store did not answer within ${ANSWER_MS} ms.`);
    return Number(waitMs);
  }
}
