import { Injectable } from '@nestjs/common';
import { Store } from '../store.js';

const ASK_AGAIN_MS = 60_000;

/** Whether the store has a write on disk before it answers: it writes an append-only file, and syncs it always. */
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

  /** A store that does not tell is taken not to. */
  private async ask(): Promise<boolean> {
    try {
      const [isWritten, sync] = await Promise.all(
        ['appendonly', 'appendfsync'].map((name) => this.store.redis.config('GET', name)),
      );
      return valueOf(isWritten) === 'yes' && valueOf(sync) === 'always';
    } catch {
      return false;
    }
  }
}

/** Of an answer such as `appendfsync always`. */
function valueOf(answer: unknown): unknown {
  return Array.isArray(answer) ? answer[1] : undefined;
}
