import { randomUUID } from 'node:crypto';
import { UnrecoverableError, type Job } from 'bullmq';
import type { Redis } from 'ioredis';
import { MooredQueue, MooredWorker, Owners, type Slot } from '#core';
import { faultsOf } from '../support/core-audit.js';
import { isUnfinished, readCoreState, type CoreState } from '../support/core-state.js';
import { hold } from './violation.js';

export const QUEUES = ['audio', 'video'] as const;
export const OWNERS = ['trip:1', 'trip:2', 'user:1', 'user:2'] as const;
/** One of them with a rate: its lines are short, and a token comes soon. */
export const SLOTS: Readonly<Record<string, Omit<Slot, 'key'>>> = {
  gpu: { limit: 1 },
  disk: { limit: 2 },
  mail: { limit: 2, rate: { max: 1, per: 4 } },
};
export const MOST_JOBS_OF_AN_OWNER = 12;

/** A job as its caller knows it. */
export interface Known {
  readonly ref: string;
  readonly owners: readonly string[];
  /** Its deduplication key with its owners, or undefined. */
  readonly dedup: string | undefined;
  /** Its latest start, ms, as its mark last said. */
  startBy?: number;
  isCancelled: boolean;
  /** It has begun, so no trigger joins it any more. */
  hasBegun: boolean;
  /** The number of its runs so far. */
  begins: number;
  hasEnded: boolean;
}

export interface Run {
  readonly job: Job;
  readonly token: string;
  readonly queue: string;
  readonly known: Known;
}

/** What the workers emit for a run that neither completed nor failed. */
type Outcome = 'ended' | 'cancelled' | 'lost';

/**
 * Queues, workers without a loop, and owners, all under one prefix, together with what a caller may rely on. After each
 * step the store is compared with that.
 */
export class CoreWorld {
  readonly prefix = `test-world-${randomUUID()}`;
  readonly owners: Owners;
  readonly known = new Map<string, Known>();
  readonly runs: Run[] = [];
  readonly closed = new Set<string>();
  /** The steps so far, for the report of a fault. */
  readonly story: string[] = [];
  state!: CoreState;
  /** The state at the last check. */
  private checked: CoreState | undefined;
  private readonly queues = new Map<string, MooredQueue>();
  private readonly workers = new Map<string, MooredWorker>();
  /** The number of runs that have begun. */
  begins = 0;
  private readonly outcomes = new Map<string, Outcome>();
  private tokens = 0;

  constructor(readonly redis: Redis) {
    const place = { connection: redis, prefix: this.prefix };
    this.owners = new Owners(place);
    for (const name of QUEUES) {
      const limits = { perOwner: MOST_JOBS_OF_AN_OWNER };
      this.queues.set(name, new MooredQueue(name, { ...place, limits, skipMetasUpdate: true }));
      const worker = new MooredWorker(name, null, { ...place, lockDuration: 600_000, maxStalledCount: 1 });
      for (const event of ['cancelled', 'lost'] as const) {
        (worker as Emitter).on(event, ({ id }) => this.outcomes.set(`${name}:${id}`, event));
      }
      this.workers.set(
        name,
        worker.on('error', () => undefined),
      );
    }
  }

  queue(name: string): MooredQueue {
    return this.queues.get(name)!;
  }

  /** Resets everything for the next life. */
  async begin(): Promise<void> {
    const keys = await this.redis.keys(`${this.prefix}*`);
    if (keys.length > 0) await this.redis.del(keys);
    this.known.clear();
    this.closed.clear();
    this.runs.length = 0;
    this.story.length = 0;
    this.begins = 0;
    this.checked = undefined;
    await this.look();
  }

  async look(): Promise<CoreState> {
    return (this.state = await readCoreState(this.redis, this.prefix));
  }

  /** Whether there is a token for each line that waits for one. */
  async isDue(): Promise<boolean> {
    const [, last] = await this.redis.zrange(`${this.prefix}~due`, '-1', '-1', 'WITHSCORES');
    const [seconds, us] = await this.redis.time();
    return Number(seconds) * 1_000 + Number(us) / 1_000 >= Number(last ?? 0);
  }

  /** The jobs that have not ended yet. */
  live(): Known[] {
    return [...this.known.values()].filter(({ isCancelled, hasEnded }) => !isCancelled && !hasEnded);
  }

  /** The job that a trigger of this deduplication key joins, except `but`. */
  pendingOf(dedup: string | undefined, but?: Known): Known | undefined {
    return [...this.known.values()].find(
      (known) => dedup !== undefined && known.dedup === dedup && known !== but && this.isPending(known),
    );
  }

  private isPending({ ref, isCancelled, hasBegun, hasEnded }: Known): boolean {
    return !isCancelled && !hasBegun && !hasEnded && this.state.jobs.get(ref)?.place !== 'active';
  }

  /** A run has handed its job back for a retry: triggers join it, unless they already join another one. */
  givenBack(known: Known): void {
    if (!this.pendingOf(known.dedup, known)) known.hasBegun = false;
  }

  /** Compares the store with what its callers know. */
  check(): void {
    const [fault] = [
      ...faultsOf(this.state),
      ...wokenWithoutSlot(this.checked, this.state),
      ...asideWithoutLine(this.state),
    ];
    this.checked = this.state;
    if (fault) hold(fault.split(':')[0]!, false, () => fault);
    for (const known of this.live()) {
      const { ref, startBy = Infinity } = known;
      const job = this.state.jobs.get(ref);
      if (job) known.startBy = Number(job.mark?.startBy || Infinity);
      else if (startBy <= this.state.at) known.hasEnded = true;
      if (known.hasEnded) continue;
      hold('lost', !!job && isUnfinished(job), () => `${ref} is ${job?.place ?? 'gone'}`);
    }
    for (const [ref, job] of this.state.jobs) {
      const known = this.known.get(ref);
      const mayBeThere = known && (!known.hasEnded || known.isCancelled);
      hold('ghost', !isUnfinished(job) || !!mayBeThere, () => `${ref} is ${job.place}`);
    }
  }

  async fetch(queue: string): Promise<void> {
    const token = `token-${(this.tokens += 1)}`;
    const worker = this.workers.get(queue)!;
    await this.begun(queue, token, await worker.getNextJob(token, { block: false }));
  }

  /** Records the job that a worker got and checks that it was allowed to start. */
  private async begun(queue: string, token: string, job: Job | undefined): Promise<void> {
    if (!job?.id) return;
    const ref = `${queue}:${job.id}`;
    const before = this.state.jobs.get(ref);
    const known = this.known.get(ref);
    hold('ghost', !!known, () => `${ref} was handed out`);
    hold('late start', !known!.isCancelled, () => `${ref} was cancelled and starts`);
    const startBy = before?.mark?.startBy;
    const isInTime = !startBy || Number(startBy) >= this.state.at;
    hold('expired', isInTime, () => `${ref} starts after its time`);
    known!.hasBegun = true;
    known!.begins += 1;
    hold(
      'attempts',
      job.attemptsStarted === known!.begins,
      () => `${ref} has begun ${job.attemptsStarted} times`,
    );
    this.begins += 1;
    this.story.push(`${ref} begins`);
    this.runs.push({ job, token, queue, known: known! });
    const { deferredFailure } = job;
    if (deferredFailure)
      await this.end([this.runs.at(-1)!], () => new UnrecoverableError(deferredFailure), false);
  }

  /**
   * Ends runs as BullMQ's worker does, with a result or an error: those that end in one turn of the event loop are sent
   * in one step.
   */
  async end(
    runs: readonly Run[],
    errorOf: (run: Run) => Error | undefined,
    fetchesNext: boolean,
  ): Promise<void> {
    const ends = runs.map((run) => ({ run, error: errorOf(run) }));
    for (const run of runs) this.runs.splice(this.runs.indexOf(run), 1);
    for (const { run } of ends) this.outcomes.set(run.known.ref, 'ended');
    const locks = await Promise.all(
      runs.map(({ known }) => this.redis.get(`${this.prefix}:${known.ref}:lock`)),
    );
    const next = await Promise.all(ends.map(({ run, error }) => this.handle(run, error, fetchesNext)));
    const after = await readCoreState(this.redis, this.prefix);
    ends.forEach(({ run, error }, i) => this.judge(run, locks[i] === run.token, error, after));
    for (const [i, job] of next.entries()) await this.begun(runs[i]!.queue, runs[i]!.token, job);
    await this.look();
  }

  private handle({ job, token, queue }: Run, error: Error | undefined, fetchesNext: boolean) {
    const worker = this.workers.get(queue)! as unknown as Handlers;
    return error
      ? worker.handleFailed(error, job, token, () => fetchesNext)
      : worker.handleCompleted({}, job, token, () => fetchesNext);
  }

  private judge({ known }: Run, held: boolean, error: Error | undefined, after: CoreState): void {
    const { ref } = known;
    const outcome = this.outcomes.get(ref);
    const isIt = this.known.get(ref) === known && !known.hasEnded;
    const place = after.jobs.get(ref)?.place;
    this.story.push(`${ref} ${error ? 'fails' : 'completes'}: ${outcome}, ${place}`);
    if (outcome !== 'ended') {
      hold('lost', !held || known.isCancelled, () => `the run of ${ref} is ${outcome}`);
      if (held) known.hasEnded = true;
      return;
    }
    hold(
      'late result',
      isIt && held && !known.isCancelled,
      () => `${ref} has ${error ? 'failed' : 'completed'}`,
    );
    if (!error) hold('lost', place === 'completed', () => `${ref} has completed and is ${place}`);
    known.hasEnded = place === 'completed' || place === 'failed';
    if (!known.hasEnded) this.givenBack(known);
  }

  /** Detects every job without a lock as stalled. */
  async findStalled(queue: string): Promise<void> {
    const worker = this.workers.get(queue) as unknown as StalledChecks;
    for (let i = 0; i < 2; i += 1) {
      await this.redis.del(`${this.prefix}:${queue}:stalled-check`);
      await worker.moveStalledJobsToWait();
      // A worker also resumes cancels in the background: here the next step begins when that has ended.
      await worker.resumeCancels();
    }
  }

  async close(): Promise<void> {
    await this.begin();
    for (const each of [...this.workers.values(), ...this.queues.values(), this.owners]) await each.close();
  }
}

/** The delay of a job that waits for a slot; no caller uses this delay here. */
const PUT_ASIDE_MS = 60_000;

function asideWithoutLine({ jobs, lines }: CoreState): string[] {
  const inLine = new Set([...lines.values()].flat());
  return [...jobs]
    .filter(([ref, { place, delay }]) => place === 'delayed' && delay === PUT_ASIDE_MS && !inLine.has(ref))
    .map(([ref]) => `line: ${ref} was put aside and is in no line`);
}

/**
 * A job leaves the line when it gets the slot or ends, when a trigger changes its slot, or when it is promoted by hand
 * and runs the gate again.
 */
function wokenWithoutSlot(before: CoreState | undefined, { jobs, lines, holders }: CoreState): string[] {
  return [...(before?.lines ?? [])].flatMap(([slot, refs]) =>
    refs
      .filter((ref) => before!.jobs.get(ref)?.place === 'delayed')
      .filter((ref) => !lines.get(slot)?.includes(ref) && !holders.get(slot)?.includes(ref))
      .filter(
        (ref) =>
          jobs.has(ref) &&
          isUnfinished(jobs.get(ref)!) &&
          jobs.get(ref)!.mark?.slot === before!.jobs.get(ref)!.mark?.slot &&
          jobs.get(ref)!.begun === before!.jobs.get(ref)!.begun,
      )
      .map((ref) => `line: ${ref} has left the line for ${slot} without it`),
  );
}

interface Emitter {
  on(event: 'cancelled' | 'lost', listener: (job: Job) => void): unknown;
}

interface StalledChecks {
  moveStalledJobsToWait(): Promise<void>;
  resumeCancels(): Promise<void>;
}

interface Handlers {
  handleCompleted(
    result: unknown,
    job: Job,
    token: string,
    fetchNext: () => boolean,
  ): Promise<Job | undefined>;
  handleFailed(error: Error, job: Job, token: string, fetchNext: () => boolean): Promise<Job | undefined>;
}
