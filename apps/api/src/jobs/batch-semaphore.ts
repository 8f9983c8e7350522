import { StoreAwayError } from '#lifecycle';
import { Injectable } from '@nestjs/common';

/** Few enough to finish in time on a slow machine, and enough for large pipelines to the store. */
const LIMIT = 200;

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: StoreAwayError) => void;
}

/** Limits how many jobs, over all batches, are enqueued at once. */
@Injectable()
export class BatchSemaphore {
  private readonly line: Waiting[] = [];
  private busy = 0;

  /** Runs `work` once there is room. If the store is unavailable for one call, all waiting calls fail without a try. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.busy < LIMIT) this.busy += 1;
    else await new Promise<void>((resolve, reject) => this.line.push({ resolve, reject }));
    try {
      return await work();
    } catch (error) {
      if (error instanceof StoreAwayError) for (const { reject } of this.line.splice(0)) reject(error);
      throw error;
    } finally {
      const next = this.line.shift();
      if (next) next.resolve();
      else this.busy -= 1;
    }
  }
}
