import { Injectable } from '@nestjs/common';
import { JobLog, LOG_KEEP } from '../read/job.log.js';

/** Of how many twins it is remembered what their logs were told. */
const TWINS = 1_000;

/** Tells a pending job's log for which other requests it stands; no more often than that log remembers. */
@Injectable()
export class Duplicates {
  private readonly told = new Map<string, number>();

  constructor(private readonly log: JobLog) {}

  tell(queue: string, twin: string, outcome: 'skipped' | 'coalesced'): void {
    const times = this.told.get(twin) ?? 0;
    if (times >= LOG_KEEP) return;
    // Put behind the others, so that the one that was told longest ago is the first to be forgotten.
    this.told.delete(twin);
    this.told.set(twin, times + 1);
    if (this.told.size > TWINS) this.told.delete(this.told.keys().next().value!);
    this.log.writeTo(queue, twin, { event: 'deduplicated', why: outcome });
  }
}
