import { Owners } from '#core';
import { Inject, Injectable } from '@nestjs/common';
import { Sweep, type Page, type Round, type SweepLine } from './sweep.js';

/**
 * Finishes what a killed process can leave in the core: the clean-up of cancels. The core writes a job and its index entries in one step,
 * so nothing else can differ. A forced repair also forgets owners that were closed more than a day ago without ever having had a job,
 * which makes room below `maxClosed`.
 */
@Injectable()
export class RepairSweep extends Sweep {
  readonly kind = 'repair';

  constructor(@Inject(Owners) private readonly owners: Owners) {
    super();
  }

  async sweepOnce(_limit: number, { dryRun, force }: Round): Promise<Page> {
    const cancels = dryRun ? (await this.owners.openReceipts()).length : await this.owners.resume();
    const purged = force && !dryRun ? await this.owners.purgeClosed() : 0;
    const lines: SweepLine[] = [
      { count: cancels, what: 'cancellation(s)', why: 'their clean-up was not finished' },
      {
        count: purged,
        what: 'closed owner(s)',
        why: 'closed for more than a day without ever having had a job',
      },
    ].flatMap(({ count, what, why }) => (count > 0 ? [{ what: `${count} ${what}`, why }] : []));
    return { seen: cancels + purged, healed: cancels + purged, lines, position: null };
  }
}
