import { Injectable } from '@nestjs/common';
import { envelopeOf, removalOf, type FoundJob } from '../cancel/found.jobs.js';
import { JobExits } from '../cancel/job.exits.js';
import { Removals } from '../history/removals.js';
import { Journal } from '../journal.js';
import type { Envelope } from '../kinds/envelope.js';
import { REPLACED } from '../kinds/outcome.js';
import { Store } from '../store.js';
import { Reservations } from './reservation.js';

/**
 * Takes pending jobs out whose place a newer one has taken; the gate refuses them already. The order makes a crash
 * harmless: why it goes; its other places; the job; and last its place with its primary owner.
 */
@Injectable()
export class Replacements {
  constructor(
    private readonly store: Store,
    private readonly removals: Removals,
    private readonly exits: JobExits,
    private readonly journal: Journal,
    private readonly reservations: Reservations,
  ) {}

  /** Whether it is out; false when it is to stay, a worker has it, or it has ended. */
  async takeOut(found: FoundJob, newer: string, atMs: number): Promise<boolean> {
    const envelope = envelopeOf(found);
    if (!envelope || !(await this.isToGo(found, envelope))) return false;
    const cause = { why: 'cancelled', reason: REPLACED, by: newer } as const;
    const removal = removalOf(found, envelope, atMs, cause);
    const line = JSON.stringify(removal);
    await this.store.call(() => this.removals.note(removal));
    await this.exits.leaveOthers(found.jobId, envelope, line);
    // A worker has just taken it: the gate refuses it, and says so.
    if (!(await this.exits.takeOut(found))) return false;
    const { id: jobId, queue, kind = '?' } = removal;
    const owner = envelope.o[0]!;
    if (await this.exits.leave(owner, envelope.e[0]!, jobId, line))
      this.journal.jobSkipped({ queue, kind, jobId, owner }, 'cancelled', REPLACED, 'replacement');
    return true;
  }

  /**
   * It waits, and nobody waits for it: one that ended meanwhile has its place anew when its producer, who had no answer,
   * asked again.
   */
  async isToGo({ jobId, state }: FoundJob, { o: owners, d: dedup = '' }: Envelope): Promise<boolean> {
    if (!['waiting', 'prioritized', 'delayed'].includes(state)) return false;
    return !(await this.store.call(() => this.reservations.isPending({ owners, dedup }, jobId)));
  }
}
