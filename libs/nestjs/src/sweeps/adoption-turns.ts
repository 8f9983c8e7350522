import type { MooredQueue } from '#core';

const JOBS_A_TURN = 1_000;

/** Gives jobs of plain producers their owners, some at a turn. A turn goes on where the one before stopped. */
export class AdoptionTurns {
  private cursor: string | undefined;

  constructor(private readonly queue: Pick<MooredQueue, 'name' | 'adopt'>) {}

  async sweepOnce(): Promise<void> {
    const from = this.cursor === undefined ? {} : { cursor: this.cursor };
    const { cursor, error } = await this.queue.adopt({ limit: JOBS_A_TURN, ...from });
    this.cursor = cursor;
    if (error === undefined) return;
    throw new Error(
      `ownersOf of queue "${this.queue.name}" cannot name the owners of some jobs: ${(error as Error).message}`,
      {
        cause: error,
      },
    );
  }
}
