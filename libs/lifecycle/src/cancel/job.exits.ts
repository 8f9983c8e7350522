import { Injectable } from '@nestjs/common';
import { Admission } from '../enqueue/admission.js';
import { Slots } from '../gate/slots.js';
import { CLOSED_KEEP_MS, HISTORY_LINES, Keys, RECORD_KEEP_MS } from '../keys.js';
import type { Envelope } from '../kinds/envelope.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { runScript } from '../scripts.js';
import { Store } from '../store.js';
import type { FoundJob } from './found.jobs.js';

/** No cancel's receipt counts it. */
const NO_CANCEL = '';

/** The ways out of a single job that will not run, whatever the reason. Each may be gone twice. */
@Injectable()
export class JobExits {
  private readonly keys: Keys;
  private readonly historyKeepMs: number;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
    private readonly slots: Slots,
    private readonly admission: Admission,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
    this.historyKeepMs = options.receiptKeepMs ?? LIFECYCLE_DEFAULTS.receiptKeepMs;
  }

  /** Its places with its other owners, each with a line of history, and in line for its slot. */
  async leaveOthers(jobId: string, envelope: Envelope, line: string): Promise<void> {
    const others = envelope.o.slice(1);
    await Promise.all(others.map((owner, i) => this.leave(owner, envelope.e[i + 1]!, jobId, line)));
    await this.quitLine(jobId, envelope);
  }

  /** Its place in line for its slot, if it needs one. */
  async quitLine(jobId: string, envelope: Envelope): Promise<void> {
    if (envelope.s) await this.store.call(() => this.slots.quit({ envelope, jobId }));
  }

  /** From its queue; false when a worker has it. */
  async takeOut({ jobId, queue }: FoundJob): Promise<boolean> {
    const isRemoved = await this.store.call(() => queue.remove(jobId, { removeChildren: false }));
    if (isRemoved === 0) return false;
    this.admission.leave(queue.name);
    return true;
  }

  /**
   * Its place with one owner, and what stands beside it, unless a run holds it; whether it was there. With its primary
   * owner that is also its deduplication key, of which the digest is given.
   */
  async leave(owner: string, epoch: string, jobId: string, line: string, dedup = ''): Promise<boolean> {
    const record = this.keys.ownerText(owner);
    const head = ['', RECORD_KEEP_MS, CLOSED_KEEP_MS, NO_CANCEL, epoch, HISTORY_LINES, this.historyKeepMs];
    const dropped = await this.store.call(() =>
      runScript(this.store.redis, 'drop', [record], [...head, jobId, '', dedup, line]),
    );
    return dropped === 1;
  }
}
