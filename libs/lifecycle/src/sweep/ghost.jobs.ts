import { Injectable } from '@nestjs/common';
import type { Job, JobType, Queue } from 'bullmq';
import { Journal } from '../journal.js';
import { queueOfJobId } from '../kinds/ids.js';
import { Queues } from '../queues.js';
import { Store } from '../store.js';
import { Healing, type Tally } from './healing.js';
import { MisplacedJobs } from './misplaced-jobs.js';
import type { Round } from './sweep.js';
import { ENDED, QueueWalk, WAITING } from './queue.walk.js';

/**
 * Ids that stand in BullMQ's sets although what they name is gone: a worker that took one would have nothing to run, and no
 * measure of retention is ever over for one that ended.
 */
@Injectable()
export class GhostJobs {
  constructor(
    private readonly store: Store,
    private readonly queues: Queues,
    private readonly walk: QueueWalk,
    private readonly misplaced: MisplacedJobs,
    private readonly healing: Healing,
    private readonly journal: Journal,
  ) {}

  /**
   * A part of the ids that wait, from where the walk was; answers whether it was the last. What stands in the way of BullMQ's
   * keys goes first: the queue could not be read, and to remove a job whose id is such a word would remove the key.
   */
  async look(queueName: string, limit: number, tally: Tally, round: Round): Promise<boolean> {
    await this.misplaced.moveAway(this.queues.open(queueName), tally, round);
    return this.go('ghosts', WAITING, queueName, limit, tally, round);
  }

  /** The same, of those that ended, in a walk of its own: they may be many more. */
  async lookAtEnded(queueName: string, limit: number, tally: Tally, round: Round): Promise<boolean> {
    return this.go('ended ghosts', ENDED, queueName, limit, tally, round);
  }

  private async go(
    walk: string,
    places: readonly JobType[],
    queueName: string,
    limit: number,
    tally: Tally,
    round: Round,
  ): Promise<boolean> {
    const queue = this.queues.open(queueName);
    // What a dry run leaves in its place, BullMQ cannot read past.
    if (round.dryRun && (await this.misplaced.find(queue)).length > 0) return true;
    const { ids, isLast } = await this.walk.take(walk, queue, limit, round, places);
    const before = tally.healed;
    await this.lookAt(queue, ids, tally, round);
    if (!round.dryRun) await this.walk.goBack(walk, queue, tally.healed - before);
    return isLast;
  }

  private async lookAt(queue: Queue, ids: readonly string[], tally: Tally, round: Round): Promise<void> {
    for (const id of ids) {
      if (round.signal.aborted) return;
      tally.seen += 1;
      if (await this.isThere(queue, id)) continue;
      await this.remove(queue, id, tally, round);
    }
  }

  private async isThere(queue: Queue, id: string): Promise<boolean> {
    try {
      return (await this.store.call(() => queue.getJob(id) as Promise<Job | undefined>)) !== undefined;
    } catch (error) {
      // It is there and is no JSON any more: it must not stand before those behind it.
      if (error instanceof SyntaxError || error instanceof TypeError) return true;
      throw error;
    }
  }

  private async remove(queue: Queue, id: string, tally: Tally, { dryRun }: Round): Promise<void> {
    const state = await this.store.call(() => queue.getJobState(id));
    // It has just been taken, or has ended and was forgotten.
    if (state === 'unknown' || state === 'active') return;
    if (dryRun) return this.healing.count('ghost', id, 'an id without a job', tally, dryRun);
    try {
      await this.store.call(() => queue.remove(id, { removeChildren: false }));
      const after = await this.store.call(() => queue.getJobState(id));
      if (after === 'unknown') this.healing.count('ghost', id, 'an id without a job', tally, dryRun);
      else tally.unknown += 1;
    } catch (error) {
      this.journal.queueError(queueOfJobId(id) ?? queue.name, error);
      tally.failed += 1;
    }
  }
}
