import { Injectable } from '@nestjs/common';
import { StoreUnavailableError } from '../errors.js';
import { Store } from '../store.js';

const ASK_AGAIN_MS = 60_000;

/**
 * Whether nothing undoes a write that the store has answered: it is on disk by then, since the store writes an append-only file
 * and syncs it always; and there is no replica that may take its place without it.
 */
@Injectable()
export class Durability {
  private answer: { isSure: boolean; at: number } | undefined;

  constructor(private readonly store: Store) {}

  async isSure(): Promise<boolean> {
    const now = performance.now();
    if (!this.answer || now - this.answer.at > ASK_AGAIN_MS)
      this.answer = { isSure: await this.ask(), at: now };
    return this.answer.isSure;
  }

  /** A store that does not tell is taken not to; one that is away is away for the cancel too. */
  private async ask(): Promise<boolean> {
    const { redis } = this.store;
    if (redis.isCluster) return false;
    try {
      return await this.store.call(async () => {
        const [isWritten, sync, replication] = await Promise.all([
          redis.config('GET', 'appendonly'),
          redis.config('GET', 'appendfsync'),
          redis.info('replication'),
        ]);
        const isAlone = /^connected_slaves:0\r?$/m.test(replication);
        return isAlone && valueOf(isWritten) === 'yes' && valueOf(sync) === 'always';
      });
    } catch (error) {
      if (error instanceof StoreUnavailableError) throw error;
      return false;
    }
  }
}

/** Of an answer such as `appendfsync always`. */
function valueOf(answer: unknown): unknown {
  return Array.isArray(answer) ? answer[1] : undefined;
}
