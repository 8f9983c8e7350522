import { Processor, WorkerHost } from '@nestjs/bullmq';
import { Inject } from '@nestjs/common';
import type { Job } from 'bullmq';
import { once } from 'node:events';
import { Ledger } from './ledger.js';

export interface AudioData {
  readonly userId?: string;
  readonly fails?: boolean;
  readonly untilStopped?: boolean;
}

/** The owners of a job that names none. */
export function ownersOf({ data }: { readonly data: AudioData }): string[] {
  return data.userId === undefined ? [] : [`user:${data.userId}`];
}

@Processor('audio', { concurrency: 10 })
export class AudioProcessor extends WorkerHost {
  constructor(@Inject(Ledger) private readonly ledger: Ledger) {
    super();
  }

  async process(job: Job<AudioData>, _token?: string, signal?: AbortSignal): Promise<string> {
    this.ledger.note(job);
    if (job.data.fails && job.attemptsMade === 0) throw new Error('the file cannot be read');
    if (job.data.untilStopped) await this.waitUntilStopped(job, signal!);
    return 'done';
  }

  private async waitUntilStopped(job: Job, signal: AbortSignal): Promise<void> {
    if (!signal.aborted) await once(signal, 'abort');
    this.ledger.stopped.push(String(job.id));
    throw new Error('stopped');
  }
}
