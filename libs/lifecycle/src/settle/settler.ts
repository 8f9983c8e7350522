import { Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import { Admission } from '../enqueue/admission.js';
import { Slots } from '../gate/slots.js';
import { Journal } from '../journal.js';
import { Keys } from '../keys.js';
import { openEnvelope, type Envelope } from '../kinds/envelope.js';
import { failedOfChild } from '../kinds/outcome.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import type { Run } from '../run/run.js';
import { ScriptBatch } from '../script-batch.js';
import { Deadlines } from '../sweep/deadlines.js';
import { Endings } from './endings.js';

/** What a run leaves behind: its result, once; its slot, free; its job, out of the index or waiting again. */
@Injectable()
export class Settler {
  private readonly keys: Keys;
  private readonly committing: ScriptBatch;
  private readonly renewing: ScriptBatch;
  private readonly answering: ScriptBatch;
  private readonly leaseMs: number;
  private readonly underWay = new Set<Promise<void>>();

  constructor(
    options: LifecycleOptions,
    private readonly endings: Endings,
    private readonly slots: Slots,
    private readonly deadlines: Deadlines,
    private readonly admission: Admission,
    private readonly journal: Journal,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
    this.committing = new ScriptBatch(options.redis, 'commit');
    this.renewing = new ScriptBatch(options.redis, 'renew', () => ['']);
    this.answering = new ScriptBatch(options.redis, 'answered');
    this.leaseMs = options.worker?.lockMs ?? LIFECYCLE_DEFAULTS.lockMs;
  }

  /** Makes a result count, as JSON. Refused when the owner was cancelled meanwhile, or another run has overtaken this one. */
  async commit(run: Run, result: string): Promise<'ok' | 'cancelled' | 'stale'> {
    const { envelope, jobId, token, fence } = run;
    if (envelope.o.length > 1 && (await this.isCancelledElsewhere(run))) return 'cancelled';
    const args = [jobId, token, envelope.e[0]!, fence, result];
    const [word] = await this.committing.ask(this.keys.ownerText(envelope.o[0]!), args);
    return word as 'ok' | 'cancelled' | 'stale';
  }

  /**
   * The run is over, its job perhaps not. Before BullMQ hears of it: a next run that starts at once must find lease and
   * slot free, and must not lose its own to the end of this one. Should it fail, both end by themselves.
   */
  async release(run: Run): Promise<void> {
    if (!run.hasBegun) return;
    try {
      await this.end(run, false);
      if (run.envelope.s) await this.slots.give(run);
    } catch (error) {
      this.journal.queueError(run.facts.queue, error);
    }
  }

  /** Its primary owner alone commits; the others are asked as at a renewal. */
  private async isCancelledElsewhere({ envelope, jobId, token }: Run): Promise<boolean> {
    const words = await Promise.all(
      envelope.o
        .slice(1)
        .map((owner, i) =>
          this.renewing.ask(this.keys.ownerText(owner), [jobId, token, envelope.e[i + 1]!, this.leaseMs]),
        ),
    );
    return words.some(([word]) => word === 'cancelled');
  }

  /** How it took its owner's cancel, for the receipt; before the job leaves, after which the receipt may be closed. */
  async answer({ envelope, jobId, token, wasAbandoned, facts }: Run): Promise<void> {
    const how = wasAbandoned ? 'ignored' : 'acknowledged';
    try {
      await Promise.all(
        envelope.o.map((owner) => this.answering.ask(this.keys.ownerText(owner), [jobId, token, how])),
      );
    } catch (error) {
      this.journal.queueError(facts.queue, error);
    }
  }

  /** The job ended for good, in BullMQ's eyes too. Nobody waits for this; a crash before it leaves what a sweep finds. */
  leave(run: Run): void {
    this.inBackground(run.facts.queue, async () => {
      await this.end(run, true);
      if (run.envelope.s) await (run.hasBegun ? this.slots.give(run) : this.slots.quit(run));
      if (run.envelope.x !== undefined) await this.deadlines.forget(run.jobId, run.envelope);
    });
    if (!run.hasBegun) this.admission.leave(run.facts.queue);
  }

  /** BullMQ ended the job without a run of ours; one that is not ours has left nothing to forget. */
  forget(job: Job): void {
    const envelope = envelopeOf(job);
    if (!envelope) return;
    this.inBackground(job.queueName, async () => {
      const { o: owners, e: epochs, d: dedup = '' } = envelope;
      await this.endings.forget({ jobId: job.id!, owners, epochs, dedup });
      if (envelope.s) await this.slots.quit({ envelope, jobId: job.id! });
    });
    // Until then it waited. Of one that lost its workers nobody can tell: the census mends that.
    if (failedOfChild(job.failedReason ?? '')) this.admission.leave(job.queueName);
  }

  /** The job waits again: it failed and is to be retried, or is handed back. */
  comeBack(run: Run): void {
    if (run.hasBegun) this.admission.comeBack(run.facts.queue);
  }

  /** Before the connection is closed: what was begun here is over. */
  async settled(): Promise<void> {
    await Promise.all(this.underWay);
  }

  private end({ envelope, jobId, token, hasBegun }: Run, leaves: boolean): Promise<unknown> {
    return this.endings.end({
      jobId,
      token: hasBegun ? token : '',
      leaves,
      owners: envelope.o,
      epochs: envelope.e,
      dedup: envelope.d ?? '',
    });
  }

  private inBackground(queue: string, work: () => Promise<void>): void {
    const ending = work().then(
      () => void this.underWay.delete(ending),
      (error: unknown) => {
        this.underWay.delete(ending);
        this.journal.queueError(queue, error);
      },
    );
    this.underWay.add(ending);
  }
}

function envelopeOf(job: Job): Envelope | undefined {
  try {
    return openEnvelope(job);
  } catch {
    return undefined;
  }
}
