import { Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import { JobLog } from '../history/job-log.js';
import { conceal, HIDDEN } from '../kinds/conceal.js';
import { KindRegistry } from '../kinds/kind-registry.js';
import { ApplicationQueues } from '../queues/application-queues.js';

export interface JobPayload {
  readonly id: string;
  readonly kind: string;
  readonly payload: unknown;
}

export interface JobLines {
  readonly id: string;
  /** The oldest first. `at` is null for a line of another program. */
  readonly lines: readonly { readonly at: string | null; readonly level: string; readonly text: string }[];
}

/** Reads what a job was asked to do, and what its runs logged. Both go with the job. */
@Injectable()
export class JobContents {
  constructor(
    private readonly queues: ApplicationQueues,
    private readonly kinds: KindRegistry,
    private readonly log: JobLog,
  ) {}

  /** Undefined if the job is not there. Fields that its kind hides are not shown. */
  async payload(id: string): Promise<JobPayload | undefined> {
    const job = await this.find(id);
    return job && { id, kind: job.name, payload: this.shown(job) };
  }

  async lines(id: string): Promise<JobLines | undefined> {
    const job = await this.find(id);
    if (!job) return undefined;
    const { lines } = await this.log.read(job.queueName, id);
    const view = lines.map(({ at, level, text }) => ({
      at: at === 0 ? null : new Date(at).toISOString(),
      level,
      text,
    }));
    return { id, lines: view };
  }

  /** What a kind hides is not known of one that this process does not know. */
  private shown({ name, queueName, data }: Job): unknown {
    const kind = this.kinds.find(name);
    if (kind) return conceal(data, kind.hides);
    return this.kinds.all().some(({ queue }) => queue === queueName) ? HIDDEN : data;
  }

  private async find(id: string): Promise<Job | undefined> {
    return (await this.queues.ofJob(id)?.getJob(id)) as Job | undefined;
  }
}
