import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Inject } from '@nestjs/common';
import type { Job } from 'bullmq';
import { once } from 'node:events';
import { Ledger } from './ledger.js';

/** Its jobs have no owners unless their producer names some. A run that hangs is told to stop. */
@Processor('mail', { runTimeout: '1s' })
export class MailProcessor extends WorkerHost {
  readonly completed: string[] = [];

  constructor(@Inject(Ledger) private readonly ledger: Ledger) {
    super();
  }

  async process(job: Job, _token?: string, signal?: AbortSignal): Promise<Record<string, unknown>> {
    this.ledger.note(job);
    if (job.name === 'hangs') await once(signal!, 'abort');
    return job.getChildrenValues();
  }

  @OnWorkerEvent('completed')
  onCompleted(job: Job): void {
    this.completed.push(String(job.id));
  }
}
