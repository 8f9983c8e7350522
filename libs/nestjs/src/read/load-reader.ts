import type { MooredQueue } from '#core';
import { Injectable } from '@nestjs/common';
import { KindRegistry } from '../kinds/kind-registry.js';
import { ApplicationQueues } from '../queues/application-queues.js';

/** What a queue has for its workers to do now. */
export interface QueueLoad {
  readonly queue: string;
  /** Waiting and running jobs: for this many the queue needs workers. */
  readonly load: number;
  /** Jobs that a worker could start now; 0 while the queue is paused. */
  readonly waiting: number;
  readonly running: number;
  readonly paused: boolean;
}

/** Reads how much work there is, for an autoscaler. The cost does not follow how many jobs wait. */
@Injectable()
export class LoadReader {
  constructor(
    private readonly queues: ApplicationQueues,
    private readonly kinds: KindRegistry,
  ) {}

  /** Of all queues of this process. */
  all(): Promise<QueueLoad[]> {
    return Promise.all([...this.queues.all().values()].map(loadOf));
  }

  /**
   * Of the queues from which a worker of these kinds takes jobs. Kinds that share a queue share its load.
   * @throws UnknownKindError
   */
  async ofKinds(kinds: readonly string[]): Promise<QueueLoad[]> {
    const names = new Set(kinds.map((kind) => this.kinds.named(kind).queue));
    return Promise.all([...names].map((name) => loadOf(this.queues.find(name)!)));
  }
}

/**
 * BullMQ's workers move a delayed job to the waiting ones when it is due. Without a worker it stays delayed, so due jobs count
 * as waiting: otherwise a fleet scaled to zero would never start for them.
 */
async function loadOf(queue: MooredQueue): Promise<QueueLoad> {
  const [counts, due, paused] = await Promise.all([
    queue.getJobCounts('waiting', 'prioritized', 'active'),
    queue.getDelayedCount(Date.now()),
    queue.isPaused(),
  ]);
  const { waiting = 0, prioritized = 0, active: running = 0 } = counts;
  const startable = paused ? 0 : waiting + prioritized + due;
  return { queue: queue.name, load: startable + running, waiting: startable, running, paused };
}
