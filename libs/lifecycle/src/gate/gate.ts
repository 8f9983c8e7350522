import { Injectable } from '@nestjs/common';
import { REPLACED, TOO_LATE, type EndedAs } from '../kinds/outcome.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import type { Run } from '../run/run.js';
import { ScriptBatch, type Answer } from '../script-batch.js';
import { Endings } from '../settle/endings.js';
import { OwnerCheck } from './owner.check.js';
import { Slots } from './slots.js';

/** May this job run now? */
export type Verdict =
  | { readonly kind: 'run'; readonly fence: string; readonly latePayload: string | undefined }
  | { readonly kind: 'done'; readonly result: unknown; readonly fence: string }
  | { readonly kind: 'skip'; readonly endedAs: EndedAs; readonly why: string }
  | {
      readonly kind: 'wait';
      readonly why: 'slot' | 'busy' | 'unknown owner' | 'owner not known to live' | 'the store';
      readonly retryInMs: number;
    };

/** How soon a job is looked at again whose owner's record is missing, or whose owner's life is not known. */
const QUARANTINE_MS = 30_000;

const WHY: Readonly<Record<string, { endedAs: EndedAs; why: string }>> = {
  cancelled: { endedAs: 'cancelled', why: 'its owner was cancelled' },
  expired: { endedAs: 'expired', why: TOO_LATE },
  superseded: { endedAs: 'cancelled', why: REPLACED },
  ended: { endedAs: 'skipped', why: 'it had ended before' },
};

/**
 * The one door to a run: slot, then every owner. What was begun on the way to a refusal is ended again. No message and no
 * state of BullMQ's takes part in the decision, so that no road leads around it.
 */
@Injectable()
export class Gate {
  private readonly beginning: ScriptBatch;
  private readonly leaseMs: number;

  constructor(
    options: LifecycleOptions,
    private readonly slots: Slots,
    private readonly ownerCheck: OwnerCheck,
    private readonly endings: Endings,
  ) {
    this.beginning = new ScriptBatch(options.redis, 'begin', () => ['']);
    this.leaseMs = options.worker?.lockMs ?? LIFECYCLE_DEFAULTS.lockMs;
  }

  check(run: Run): Promise<Verdict> {
    const { kind, envelope } = run;
    if (kind.checkOwner || envelope.s || envelope.o.length > 1) return this.checkAll(run);
    return this.ask(run, 0).then(verdictOf);
  }

  private async checkAll(run: Run): Promise<Verdict> {
    const life = run.kind.checkOwner ? await this.ownerCheck.ask(run.envelope.o) : 'alive';
    if (life === 'gone') return { kind: 'skip', endedAs: 'skipped', why: 'its owner is gone' };
    if (life === 'unknown' && run.kind.onUnknownOwner === 'wait') {
      return { kind: 'wait', why: 'owner not known to live', retryInMs: QUARANTINE_MS };
    }

    try {
      const retryInMs = run.envelope.s && (await this.slots.take(run));
      if (retryInMs !== undefined) return { kind: 'wait', why: 'slot', retryInMs };
      const verdict = await this.begin(run);
      if (run.envelope.s && verdict.kind !== 'run') await this.slots.give(run);
      return verdict;
    } catch (error) {
      // Should this fail as well, the hold ends with its lease.
      if (run.envelope.s) await this.slots.give(run).catch(() => undefined);
      throw error;
    }
  }

  /**
   * The primary is asked last, and only when all others would let it run: by its word the job is not pending any more, and
   * later triggers make another one.
   */
  private async begin(run: Run): Promise<Verdict> {
    if (run.envelope.o.length === 1) return verdictOf(await this.ask(run, 0));
    const others = await this.askOthers(run);
    const refusal = others.find(([word]) => word !== 'run');
    if (refusal) {
      await this.endBegun(run, others);
      return verdictOf(refusal);
    }
    const answer = await this.askPrimary(run, others);
    if (answer[0] !== 'run') await this.endBegun(run, others);
    return verdictOf(answer);
  }

  /** All or none: when one cannot be asked, what the others said is taken back. */
  private async askOthers(run: Run): Promise<readonly Answer[]> {
    const owners = run.envelope.o.slice(1);
    const settled = await Promise.allSettled(owners.map((_owner, i) => this.ask(run, i + 1)));
    const failed = settled.find((one) => one.status === 'rejected');
    const answers = settled.map((one): Answer => (one.status === 'fulfilled' ? one.value : ['error']));
    if (!failed) return answers;
    await this.endBegun(run, answers);
    throw failed.reason;
  }

  private async askPrimary(run: Run, others: readonly Answer[]): Promise<Answer> {
    try {
      return await this.ask(run, 0);
    } catch (error) {
      await this.endBegun(run, others);
      throw error;
    }
  }

  /** With some of its other owners it had begun; with all of them it is over. */
  private async endBegun({ jobId, token, records: all }: Run, others: readonly Answer[]): Promise<void> {
    const records = all.slice(1).filter((_record, i) => others[i]![0] === 'run');
    if (records.length > 0) await this.endings.end({ jobId, token, leaves: false, records, dedup: '' });
  }

  private ask({ envelope, jobId, token, records }: Run, i: number): Promise<Answer> {
    const isPrimary = i === 0;
    return this.beginning.ask(records[i]!, [
      jobId,
      token,
      envelope.e[i]!,
      // The primary alone judges the time: it alone knows when the job was last wanted, and whether it was done in time.
      isPrimary ? (envelope.x ?? '') : '',
      this.leaseMs,
      isPrimary ? (envelope.d ?? '') : '',
      isPrimary ? 1 : 0,
    ]);
  }
}

function verdictOf([word, ...rest]: Answer): Verdict {
  switch (word) {
    case 'run':
      return { kind: 'run', fence: rest[0]!, latePayload: rest[1] };
    case 'done':
      return { kind: 'done', result: JSON.parse(rest[0]!) as unknown, fence: rest[1]! };
    case 'skip':
      return { kind: 'skip', ...WHY[rest[0]!]! };
    case 'wait':
      return { kind: 'wait', why: 'busy', retryInMs: Number(rest[1]) };
    default:
      return { kind: 'wait', why: 'unknown owner', retryInMs: QUARANTINE_MS };
  }
}
