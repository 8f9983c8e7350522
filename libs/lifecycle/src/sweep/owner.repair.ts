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
  /** So much is read at a time. */
  readonly atOnce: number;
}

/** Where an owner's repair is: the sort of what it has and a cursor in it, `0` at the beginning. */
interface Turn {
  readonly cursor: string;
  readonly nowMs: number;
  readonly limit: number;
}

/** What was looked at, and where its sort goes on; 0 when that was the last of it. */
interface Some {
  readonly count: number;
  readonly next: string;
}

const SORTS = ['places', 'dedup', 'late', 'done', 'runs'] as const;
type Sort = (typeof SORTS)[number];
type Beside = Exclude<Sort, 'places' | 'runs'>;

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

  /**
   * A page of what it has: its places, and then what stands beside them. Answers where the next one begins, 0 when that was
   * the last.
   */
  async repair(owner: string, { cursor, nowMs, limit }: Turn, tally: Tally, round: Round): Promise<string> {
    const record = this.keys.ownerText(owner);
    const { redis } = this.store;
    const [epoch, cancels] = await this.store.call(() =>
      Promise.all([redis.hget(record, 'e'), redis.hlen(`${record}:cancels`)]),
    );
    const part: Part = {
      owner,
      epoch: Number(epoch ?? 0),
      isCleanedUp: cancels === 0,
      nowMs,
      atOnce: Math.min(PAGE, limit),
    };
    let [sort = 'places', at = '0'] = cursor.includes(' ') ? cursor.split(' ') : ['places', cursor];
    for (let seen = 0; seen < part.atOnce;) {
      const found = await this.repairSome(sort, at, part, tally, round);
      if (round.signal.aborted) return cursor;
      seen += found.count;
      at = found.next;
      if (at !== '0') continue;
      const following = SORTS[SORTS.indexOf(sort as Sort) + 1];
      if (following === undefined) return '0';
      sort = following;
    }
    return `${sort} ${at}`;
  }

  private async repairSome(sort: string, at: string, part: Part, tally: Tally, round: Round): Promise<Some> {
    if (sort === 'places') return this.repairPlaces(at, part, tally, round);
    if (sort === 'runs') return this.repairRuns(part, tally, round);
    return this.repairBeside(sort as Beside, at, part, tally, round);
  }

  private async repairPlaces(at: string, part: Part, tally: Tally, round: Round): Promise<Some> {
    const record = this.keys.ownerText(part.owner);
    const [next, fields] = await this.store.call(() =>
      this.store.redis.hscan(record, at, 'MATCH', 'j*', 'COUNT', part.atOnce),
    );
    for (const [field, text] of pairs(fields)) {
      if (round.signal.aborted) break;
      await this.repairPlace(field.slice(1), text, part, tally, round);
    }
    return { count: fields.length / 2, next };
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
        this.endings.end({
          jobId,
          token: '',
          leaves: true,
          records: this.keys.records(owners),
          epochs,
          dedup,
        }),
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
    sort: Beside,
    at: string,
    { owner, atOnce }: Part,
    tally: Tally,
    round: Round,
  ): Promise<Some> {
    const [next, fields] = await this.store.call(() =>
      this.store.redis.hscan(`${this.keys.ownerText(owner)}:${sort}`, at, 'COUNT', atOnce),
    );
    const strays = pairs(fields).map(([name, value]): Stray => [sort, name, sort === 'dedup' ? value : '']);
    await this.mendAll(owner, strays, tally, round);
    return { count: strays.length, next };
  }

  private async repairRuns({ owner, nowMs }: Part, tally: Tally, round: Round): Promise<Some> {
    const runs = await this.store.call(() =>
      this.store.redis.zrangebyscore(`${this.keys.ownerText(owner)}:runs`, '-inf', nowMs, 'LIMIT', 0, PAGE),
    );
    await this.mendAll(
      owner,
      runs.map((run): Stray => ['run', run, '']),
      tally,
      round,
    );
    return { count: runs.length, next: '0' };
  }

  private async mendAll(owner: string, strays: readonly Stray[], tally: Tally, round: Round): Promise<void> {
    const record = this.keys.ownerText(owner);
    const isStray = await Promise.all(strays.map((stray) => this.isStray(record, stray)));
    for (const stray of strays.filter((_stray, i) => isStray[i]))
      await this.healing.mend(owner, stray, tally, round);
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
