import { Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';

/** One run of a processor. */
export interface Entry {
  readonly job: string;
  readonly name: string;
  readonly data: unknown;
}

/** What the application's processors have run, and how running jobs were stopped. */
@Injectable()
export class Ledger {
  readonly entries: Entry[] = [];
  readonly stopped: string[] = [];

  note({ queueName, id, name, data }: Job): void {
    this.entries.push({ job: `${queueName}:${id}`, name, data });
  }

  ran(name: string): readonly Entry[] {
    return this.entries.filter((entry) => entry.name === name);
  }
}
