import { StoreAwayError } from '#lifecycle';
import { Injectable } from '@nestjs/common';

/** Few enough to be through in time on a slow machine, and enough to go to the store many at a time. */
const AT_ONCE = 200;

interface Waiting {
  readonly go: () => void;
  readonly refuse: (error: StoreAwayError) => void;
}

/** How many jobs of batches are on their way to the store at once, of all batches together: the others stand in line. */
@Injectable()
export class BatchSemaphore {
  private readonly line: Waiting[] = [];
  private busy = 0;

  /** A job's time begins when its turn comes. Once the store is away for one, whoever stands in line is not tried. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.busy < AT_ONCE) this.busy += 1;
    else await new Promise<void>((go, refuse) => this.line.push({ go, refuse }));
    try {
      return await work();
    } catch (error) {
      if (error instanceof StoreAwayError) for (const { refuse } of this.line.splice(0)) refuse(error);
      throw error;
    } finally {
      const next = this.line.shift();
      if (next) next.go();
      else this.busy -= 1;
    }
  }
}
