import { Injectable } from '@nestjs/common';
import type { JobsOptions } from 'bullmq';
import { Queues } from '../queues.js';

export interface NewJob {
  readonly name: string;
  readonly data: unknown;
  readonly opts: JobsOptions & { jobId: string };
}

interface Waiting {
  readonly job: NewJob;
  readonly done: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** What is added in one call fails together in the eyes of its callers, even where only one of it did. */
const MOST_AT_ONCE = 50;

/** Adds jobs to their queues; what is asked in one turn of the event loop goes together. Adding a job twice is adding it once. */
@Injectable()
export class Adds {
  private readonly waiting = new Map<string, Map<string, Waiting>>();

  constructor(private readonly queues: Queues) {}

  add(queue: string, job: NewJob): Promise<void> {
    let group = this.waiting.get(queue);
    if (!group) {
      group = new Map();
      this.waiting.set(queue, group);
      setImmediate(() => this.flush(queue));
    }
    const { jobId } = job.opts;
    const same = group.get(jobId);
    if (same) return same.done;

    let settle!: Pick<Waiting, 'resolve' | 'reject'>;
    const done = new Promise<void>((resolve, reject) => (settle = { resolve, reject }));
    group.set(jobId, { job, done, ...settle });
    if (group.size >= MOST_AT_ONCE) this.flush(queue);
    return done;
  }

  private flush(queue: string): void {
    const group = this.waiting.get(queue);
    if (!group) return;
    this.waiting.delete(queue);
    void this.send(queue, [...group.values()]);
  }

  private async send(queue: string, group: readonly Waiting[]): Promise<void> {
    try {
      const target = this.queues.get(queue);
      const [only] = group;
      if (group.length === 1) await target.add(only!.job.name, only!.job.data, only!.job.opts);
      else await target.addBulk(group.map(({ job }) => job));
      for (const { resolve } of group) resolve();
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}
