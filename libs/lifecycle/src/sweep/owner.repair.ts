import { Injectable } from '@nestjs/common';
import type { JobState } from 'bullmq';
import { FoundJobs, envelopeOf } from '../cancel/found.jobs.js';
import { readPlace, type Place } from '../cancel/places.js';
import { Slots } from '../gate/slots.js';
import { Keys, PLACE_GRACE_MS } from '../keys.js';
import { queueOfJobId } from '../kinds/ids.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { Queues } from '../queues.js';
import { Endings } from '../settle/endings.js';
import { Store } from '../store.js';
import { Deadlines } from './deadlines.js';
import { Healing, type Stray, type Tally } from './healing.js';
import { LeftJobs } from './left.jobs.js';
import { ReplacedJobs } from './replaced.jobs.js';
import type { Round } from './sweep.js';

const PAGE = 100;

/** A part of an owner's record that was read: its places, each as it stands there. */
interface Part {
  readonly owner: string;
  readonly epoch: number;
  /** A cancel is not done yet: its clean-up takes out what it ended. */
  readonly isCleanedUp: boolean;
  readonly nowMs: number;
}

/** Mends what an owner has, so that its index names jobs that are, and nothing else names jobs that are not. */
@Injectable()
export class OwnerRepair {
  private readonly keys: Keys;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
    private readonly queues: Queues,
    private readonly found: FoundJobs,
    private readonly endings: Endings,
    private readonly slots: Slots,
    private readonly deadlines: Deadlines,
    private readonly leftJobs: LeftJobs,
    private readonly replacedJobs: ReplacedJobs,
    private readonly healing: Healing,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
  }

  /** A page of its places; answers where the next one begins, 0 when that was the last. */
  async repair(owner: string, cursor: string, nowMs: number, tally: Tally, round: Round): Promise<string> {
    const record = this.keys.ownerText(owner);
    const { redis } = this.store;
    const [epoch, cancels, [next, fields]] = await this.store.call(() =>
      Promise.all([
        redis.hget(record, 'e'),
        redis.hlen(`${record}:cancels`),
        redis.hscan(record, cursor, 'MATCH', 'j*', 'COUNT', PAGE),
      ]),
    );
    const part: Part = { owner, epoch: Number(epoch ?? 0), isCleanedUp: cancels === 0, nowMs };
    for (let i = 0; i < fields.length; i += 2) {
      if (round.signal.aborted) return cursor;
      await this.repairPlace(fields[i]!.slice(1), fields[i + 1]!, part, tally, round);
    }
    if (cursor === '0') await this.repairBeside(record, part, tally, round);
    return next;
  }

  private async repairPlace(
    jobId: string,
    text: string,
    part: Part,
    tally: Tally,
    round: Round,
  ): Promise<void> {
    const place = readPlace(jobId, text);
    const isCancelled = place.epoch !== part.epoch;
    // Its producer may be about to add it, its worker about to end it, a clean-up about to take it out.
    if (part.nowMs - place.wantedAt < PLACE_GRACE_MS || (isCancelled && !part.isCleanedUp)) return;
    tally.seen += 1;
    const state = await this.stateOf(jobId);
    if (state === 'completed' || state === 'failed') await this.endAgain(place, text, part, tally, round);
    const replaced = isCancelled || place.hasBegun ? undefined : text.split('|')[4];
    if (state !== 'unknown') {
      if (replaced !== undefined) await this.replacedJobs.remove(part.owner, place, replaced, tally, round);
      return;
    }
    if (replaced !== undefined) await this.leftJobs.add(part.owner, place, text, tally, round);
    else await this.healing.mend(part.owner, ['place', jobId, text], tally, round);
  }

  private stateOf(jobId: string): Promise<JobState | 'unknown'> {
    const queue = this.queues.open(queueOfJobId(jobId) ?? 'unknown');
    return this.store.call(() => queue.getJobState(jobId));
  }

  /** Its worker died before it could say so. Nothing goes that a run still holds, or a newer life of its id. */
  private async endAgain(
    { jobId }: Place,
    text: string,
    { owner, nowMs }: Part,
    tally: Tally,
    round: Round,
  ): Promise<void> {
    const found = await this.found.find(jobId);
    const envelope = envelopeOf(found);
    if (nowMs - (found.job?.finishedOn ?? 0) < PLACE_GRACE_MS) return;
    if (!round.dryRun && envelope) {
      const { o: owners, e: epochs, d: dedup = '' } = envelope;
      await this.store.call(() =>
        this.endings.end({ jobId, token: '', leaves: true, owners, epochs, dedup }),
      );
      if (envelope.s) await this.store.call(() => this.slots.quit({ envelope, jobId }));
      await this.store.call(() => this.deadlines.forget(jobId, envelope));
      const record = this.keys.ownerText(owner);
      if (await this.store.call(() => this.store.redis.hexists(record, `j${jobId}`))) return;
    }
    if (envelope) this.healing.count('ended', jobId, 'it has ended', tally, round.dryRun);
    else await this.healing.mend(owner, ['place', jobId, text], tally, round);
  }

  /** What stands beside the record; the script looks once more whether its jobs are there. */
  private async repairBeside(
    record: string,
    { owner, nowMs }: Part,
    tally: Tally,
    round: Round,
  ): Promise<void> {
    const mendAll = async (strays: readonly Stray[]): Promise<void> => {
      const isStray = await Promise.all(strays.map((stray) => this.isStray(record, stray)));
      for (const stray of strays.filter((_stray, i) => isStray[i]))
        await this.healing.mend(owner, stray, tally, round);
    };
    for (const sort of ['dedup', 'late', 'done'] as const) {
      let cursor = '0';
      do {
        const [next, fields] = await this.store.call(() =>
          this.store.redis.hscan(`${record}:${sort}`, cursor, 'COUNT', PAGE),
        );
        await mendAll(pairs(fields).map(([name, value]) => [sort, name, sort === 'dedup' ? value : '']));
        cursor = next;
      } while (cursor !== '0' && !round.signal.aborted);
    }
    const runs = await this.store.call(() =>
      this.store.redis.zrangebyscore(`${record}:runs`, '-inf', nowMs, 'LIMIT', 0, PAGE),
    );
    await mendAll(runs.map((run): Stray => ['run', run, '']));
  }

  private async isStray(record: string, [sort, name, seen]: Stray): Promise<boolean> {
    const jobId = sort === 'dedup' ? seen.slice(seen.indexOf('|') + 1) : name.split('|')[0]!;
    const [epoch, text] = await this.store.call(() => this.store.redis.hmget(record, 'e', `j${jobId}`));
    if (text === null || text === undefined) return true;
    if (sort === 'dedup') return !seen.startsWith(`${epoch}|`);
    return sort === 'run' && readPlace(jobId, text).token !== name.split('|')[1];
  }
}

function pairs(flat: readonly string[]): [string, string][] {
  const found: [string, string][] = [];
  for (let i = 0; i < flat.length; i += 2) found.push([flat[i]!, flat[i + 1]!]);
  return found;
}
