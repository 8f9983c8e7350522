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

type Committed = 'ok' | 'cancelled' | 'stale';

/** What a run leaves behind: its result, once; its slot, free; its job, out of the index or waiting again. */
@Injectable()
export class Settler {
  private readonly keys: Keys;
  private readonly committing: ScriptBatch;
  private readonly renewing: ScriptBatch;
  private readonly answering: ScriptBatch;
  private readonly leaseMs: number;
  private underWay = 0;
  private readonly whenAllEnded: (() => void)[] = [];

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
  commit(run: Run, result: string): Promise<Committed> {
    return run.records.length === 1 ? this.commitAlone(run, result) : this.commitUnlessCancelled(run, result);
  }

  private commitAlone({ envelope, jobId, token, fence, records }: Run, result: string): Promise<Committed> {
    return this.committing
      .ask(records[0]!, [jobId, token, envelope.e[0]!, fence, result])
      .then(([word]) => word as Committed);
  }

  /** Its primary owner alone commits; the others are asked as at a renewal. */
  private async commitUnlessCancelled(run: Run, result: string): Promise<Committed> {
    return (await this.isCancelledElsewhere(run)) ? 'cancelled' : this.commitAlone(run, result);
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

  private async isCancelledElsewhere({ envelope, jobId, token, records }: Run): Promise<boolean> {
    const words = await Promise.all(
      records
        .slice(1)
        .map((record, i) => this.renewing.ask(record, [jobId, token, envelope.e[i + 1]!, this.leaseMs])),
    );
    return words.some(([word]) => word === 'cancelled');
  }

  /** How it took its owner's cancel, for the receipt; before the job leaves, after which the receipt may be closed. */
  async answer({ records, jobId, token, wasAbandoned, facts }: Run): Promise<void> {
    const how = wasAbandoned ? 'ignored' : 'acknowledged';
    try {
      await Promise.all(records.map((record) => this.answering.ask(record, [jobId, token, how])));
    } catch (error) {
      this.journal.queueError(facts.queue, error);
    }
  }

  /** The job ended for good, in BullMQ's eyes too. Nobody waits for this; a crash before it leaves what a sweep finds. */
  leave(run: Run): void {
    const { s, x } = run.envelope;
    const isPlain = !s && x === undefined;
    this.inBackground(run.facts.queue, isPlain ? this.end(run, true) : this.endAll(run));
    if (!run.hasBegun) this.admission.leave(run.facts.queue);
  }

  private async endAll(run: Run): Promise<void> {
    await this.end(run, true);
    if (run.envelope.s) await (run.hasBegun ? this.slots.give(run) : this.slots.quit(run));
    await this.deadlines.forget(run.jobId, run.envelope);
  }

  /** BullMQ ended the job without a run of ours; one that is not ours has left nothing to forget. */
  forget(job: Job): void {
    const envelope = envelopeOf(job);
    if (!envelope) return;
    this.inBackground(job.queueName, this.forgetAll(job.id!, envelope));
    // Until then it waited. Of one that lost its workers nobody can tell: the census mends that.
    if (failedOfChild(job.failedReason ?? '')) this.admission.leave(job.queueName);
  }

  private async forgetAll(jobId: string, envelope: Envelope): Promise<void> {
    const { o: owners, e: epochs, d: dedup = '' } = envelope;
    await this.endings.forget({ jobId, records: this.keys.records(owners), epochs, dedup });
    if (envelope.s) await this.slots.quit({ envelope, jobId });
  }

  /** The job waits again: it failed and is to be retried, or is handed back. */
  comeBack(run: Run): void {
    if (run.hasBegun) this.admission.comeBack(run.facts.queue);
  }

  /** Before the connection is closed: what was begun here is over. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.underWay === 0) resolve();
      else this.whenAllEnded.push(resolve);
    });
  }

  private end({ envelope, records, jobId, token, hasBegun }: Run, leaves: boolean): Promise<unknown> {
    return this.endings.end({
      jobId,
      token: hasBegun ? token : '',
      leaves,
      records,
      epochs: envelope.e,
      dedup: envelope.d ?? '',
    });
  }

  private inBackground(queue: string, work: Promise<unknown>): void {
    this.underWay += 1;
    work.then(this.oneEnded, (error: unknown) => {
      this.journal.queueError(queue, error);
      this.oneEnded();
    });
  }

  private readonly oneEnded = (): void => {
    this.underWay -= 1;
    if (this.underWay > 0) return;
    for (const resolve of this.whenAllEnded) resolve();
    this.whenAllEnded.length = 0;
  };
}

function envelopeOf(job: Job): Envelope | undefined {
  try {
    return openEnvelope(job);
  } catch {
    return undefined;
  }
}
