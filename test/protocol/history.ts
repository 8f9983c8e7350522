import {
  LEASE_MS,
  type Begin,
  type Cancel,
  type Commit,
  type Drop,
  type End,
  type Reserve,
  type Strategy,
} from './owner.calls.js';
import { hold, Violation } from './violation.js';

/** One life of a job id: from the reserve that made it. An id that is used again has another. */
export interface JobPast {
  readonly id: string;
  readonly epoch: string;
  readonly reservedAt: number;
  readonly key: string;
  answer: readonly string[];
  /** When it was reserved, or left a trigger. */
  wantedAt: number;
  inIndex: boolean;
  fence: number;
  holder: string;
  late: string | undefined;
  result: string | undefined;
  /** It alone was cancelled, not its owner. */
  isCancelled: boolean;
}

export interface RunPast {
  readonly job: JobPast;
  readonly token: string;
  readonly fence: string;
  readonly payload: string | undefined;
  leaseEnd: number;
  isOver: boolean;
}

/** What was told of a cancel's runs, and how many jobs it was counted to have removed. */
interface CancelPast {
  readonly at: number;
  readonly moved: string;
  readonly told: readonly string[];
  /** Up to which epoch it ended jobs; nothing for that of one job. */
  readonly upTo: string | undefined;
  removed: number;
}

/** A job's start, or its end without one: none came in time, or it alone was cancelled. */
interface Start {
  readonly at: number;
  readonly job: JobPast;
}

/**
 * What happened to one owner, in the order of its scripts, told by their answers. Each answer is held against what went
 * before; the first that breaks an invariant throws.
 */
export class History {
  /** Counts the scripts: what happened later has the larger number. */
  at = 0;
  epoch: string | undefined;
  lastCancelAt = -1;
  readonly starts: Start[] = [];
  readonly expiries: Start[] = [];
  readonly cancelsAlone: Start[] = [];
  readonly runs = new Map<string, RunPast>();
  private readonly epochs = new Set<string>();
  private readonly jobs = new Map<string, JobPast>();
  private readonly pending = new Map<string, JobPast>();
  private readonly cancels = new Map<string, CancelPast>();
  private isClosed = false;
  private reopenedAt: number | undefined;

  /** The life that a job of this epoch has, or had. */
  life(id: string, epoch: string): JobPast | undefined {
    const job = this.jobs.get(id);
    return job?.epoch === epoch ? job : undefined;
  }

  /** Whether the end of that run is no end of its job: another run has it now, or another life of its id. */
  isOvertaken(job: JobPast, token: string): boolean {
    return this.jobs.get(job.id) !== job || job.holder !== token;
  }

  runOf(job: string, token: string): RunPast {
    return this.runs.get(nameOf(job, token))!;
  }

  get indexed(): JobPast[] {
    return [...this.jobs.values()].filter(({ inIndex }) => inIndex);
  }

  reserved(now: number, call: Reserve, answer: readonly string[]): JobPast {
    this.at += 1;
    const [word, twin] = answer;
    const epoch = answer[word === 'new' ? 1 : 2]!;
    this.sawEpoch(epoch, answer);
    hold('I2', !this.isClosed, () => `a closed owner takes ${call.job}`);
    const known = this.life(call.job, epoch);
    if (known?.inIndex) {
      const again = [...known.answer, 'again'];
      hold('F7', same(answer, again), () => `reserved again: ${text(answer)}, not ${text(again)}`);
      return known;
    }
    const held = call.strategy === '' ? undefined : this.pending.get(call.key);
    const expected = held ? [call.strategy, held.id] : ['new', epoch];
    if (!same(answer.slice(0, 2), expected)) this.blameDedup(held, word!, twin!, answer);
    hold('F7', answer[word === 'new' ? 2 : 3] === String(now), () => `not the time it was: ${text(answer)}`);

    if (held && (word === 'skip' || word === 'coalesce')) {
      if (word === 'coalesce') held.late = call.payload;
      held.wantedAt = now;
      held.answer = [...held.answer.slice(0, -1), String(now)];
      return held;
    }
    const job: JobPast = {
      id: call.job,
      epoch,
      reservedAt: this.at,
      key: call.key,
      answer,
      wantedAt: now,
      inIndex: true,
      fence: 0,
      holder: '',
      late: word === 'replace' ? call.payload : undefined,
      result: undefined,
      isCancelled: false,
    };
    this.jobs.set(job.id, job);
    if (call.strategy !== '') this.pending.set(call.key, job);
    return job;
  }

  /** What is reserved of a closed owner is refused, and nothing else. */
  refused(answer: readonly string[]): void {
    this.at += 1;
    hold('I2', this.isClosed && same(answer, ['closed']), () => `reserve answers ${text(answer)}`);
  }

  begun(now: number, call: Begin, reservedAt: number, answer: readonly string[]): void {
    this.at += 1;
    const job = this.life(call.job, call.epoch);
    const isCancelled = job !== undefined && this.isCancelledAlone(job) && call.epoch === this.epoch;
    const isCurrent = job !== undefined && job.inIndex && reservedAt > this.lastCancelAt && !isCancelled;
    const [word, detail, payload] = answer;
    const isRefused = same(answer, ['skip', 'cancelled']);
    hold('I1', !isCancelled || isRefused, () => `${call.job} alone was cancelled, and is ${text(answer)}`);
    switch (`${word}${word === 'skip' ? ` ${detail}` : ''}`) {
      case 'run':
        return this.ran(now, call, reservedAt, job, detail!, payload);
      case 'done':
        hold('I9', isCurrent && detail === job.result, () => `${call.job} has no result ${detail}`);
        hold('I9', payload === `${job!.fence}`, () => `${call.job} was not committed by run ${payload}`);
        return;
      case 'wait':
        hold('I4', this.liveRunOf(job, now, call.token) !== undefined, () => `${call.job} waits for no run`);
        return;
      case 'skip cancelled':
      case 'unknown':
        hold('I3', word === 'skip' || this.epoch === undefined, () => `${call.job} is ${text(answer)}`);
        hold('I2', !isCurrent, () => `${call.job}, reserved after the last cancel, is ${text(answer)}`);
        return;
      case 'skip expired':
        hold('I30', isTooLate(now, call, job), () => `${call.job} was still in time`);
        hold('I9', !isCurrent || job.result === undefined, () => `${call.job} has a result and is expired`);
        this.expiries.push({ at: this.at, job: job! });
        if (this.pending.get(job!.key) === job) this.pending.delete(job!.key);
        return;
      case 'skip ended':
        hold('I3', this.epoch !== undefined, () => `${call.job} is given up, and its owner's record is lost`);
        hold('I2', !isCurrent, () => `${call.job} is in the index, and is taken for ended`);
        return;
      case 'skip superseded':
        hold('I3', call.epoch === this.epoch, () => `${call.job} was cancelled, and is ${text(answer)}`);
        hold('I13', !isCurrent || job.fence === 0, () => `${call.job} had begun, and is not retried`);
        hold('I13', !isCurrent || this.pending.get(job.key) !== job, () => `${call.job} was pending`);
        return;
      default:
        throw new Violation('F36', `begin answers ${text(answer)}`);
    }
  }

  renewed(now: number, run: RunPast, answer: readonly string[]): void {
    this.at += 1;
    const isLost = run.isOver || run.leaseEnd < now || this.epoch === undefined;
    const isCancelled = !isLost && (run.job.epoch !== this.epoch || this.isCancelledAlone(run.job));
    const expected = isLost ? 'lost' : isCancelled ? 'cancelled' : 'ok';
    const invariant = isCancelled ? 'I5' : 'I31';
    const why = (): string =>
      `renew at ${now} of a lease to ${run.leaseEnd}: ${text(answer)}, not ${expected}`;
    hold(invariant, same(answer, [expected]), why);
    if (expected === 'ok') run.leaseEnd = now + LEASE_MS;
  }

  committed(run: RunPast, call: Commit, answer: readonly string[]): void {
    this.at += 1;
    const { job } = run;
    const isNewest = !run.isOver && job.inIndex && Number(run.fence) === job.fence;
    const isCancelled = job.epoch !== this.epoch || this.isCancelledAlone(job);
    const expected = isCancelled ? 'cancelled' : isNewest ? 'ok' : 'stale';
    hold('I9', same(answer, [expected]), () => `commit of ${call.token}: ${text(answer)}, not ${expected}`);
    if (expected === 'ok') job.result ??= call.result;
  }

  ended(now: number, call: End, job: JobPast, answer: readonly string[]): void {
    this.at += 1;
    hold('F36', same(answer, ['ok']), () => `end answers ${text(answer)}`);
    const run = this.runs.get(nameOf(call.job, call.token));
    if (run) run.isOver = true;
    if (!call.leaves || this.jobs.get(call.job) !== job || !job.inIndex || this.isLeftToCleanUp(job)) return;
    const isAnothers =
      call.token === '' ? this.liveRunOf(job, now, '') !== undefined : job.holder !== call.token;
    if (isAnothers) return;
    this.left(job);
  }

  /** The place of what was cancelled: no clean-up is ever done here. */
  isLeftToCleanUp({ isCancelled, epoch }: JobPast): boolean {
    return (
      isCancelled ||
      (epoch !== this.epoch &&
        [...this.cancels.values()].some(({ upTo }) => upTo !== undefined && Number(epoch) <= Number(upTo)))
    );
  }

  private left(job: JobPast): void {
    Object.assign(job, { inIndex: false, fence: 0, holder: '', late: undefined, result: undefined });
    if (this.pending.get(job.key) === job) this.pending.delete(job.key);
  }

  cancelled(now: number, cancel: Cancel, answer: readonly string[]): void {
    this.at += 1;
    const { cancelId, job, close, occurredAt } = cancel;
    const [word, epoch, before, ...runs] = answer;
    const moved = `${before} to ${epoch}`;
    const first = this.cancels.get(cancelId);
    const isLate =
      !first && occurredAt !== undefined && this.reopenedAt !== undefined && occurredAt < this.reopenedAt;
    const expected = isLate ? 'late' : 'cancelled';
    hold('I46', word === expected, () => `cancel of what was at ${occurredAt} answers ${text(answer)}`);
    if (isLate) return;
    if (first) {
      hold('I7', moved === first.moved, () => `the same cancelId moves ${moved}, and moved ${first.moved}`);
      this.sawRunsAgain(now, first, runs);
      return;
    }
    const upTo = job === undefined ? before : undefined;
    this.cancels.set(cancelId, { at: this.at, moved, told: runs, upTo, removed: 0 });
    const ended = job === undefined ? undefined : this.jobs.get(job);
    const live = [...this.runs]
      .filter(([, run]) => isLive(run, now) && (job === undefined || (run.job === ended && ended.inIndex)))
      .map(([name]) => name);
    const why = (): string => `runs ${text(runs.toSorted())}, and there are ${text(live.toSorted())}`;
    hold('I4', same(runs.toSorted(), live.toSorted()), why);
    if (job !== undefined) return this.cancelledAlone(ended, moved);

    hold('I7', before === (this.epoch ?? '0'), () => `moves ${moved}, when it was ${this.epoch}`);
    hold('I1', !this.epochs.has(epoch!), () => `epoch ${epoch} was there before`);
    this.epoch = epoch;
    this.epochs.add(epoch!);
    this.lastCancelAt = this.at;
    this.pending.clear();
    if (close) [this.isClosed, this.reopenedAt] = [true, undefined];
  }

  reopened(now: number, answer: readonly string[]): void {
    this.at += 1;
    const [word, epoch] = answer;
    hold('I7', word === 'open' && answer.length === 3, () => `reopen answers ${text(answer)}`);
    this.sawEpoch(epoch!, answer);
    [this.isClosed, this.reopenedAt] = [false, now];
  }

  /** A clean-up drops the place of a job that its cancel ended and nobody runs, and counts it unless it told its run. */
  dropped(now: number, call: Drop, isDropped: boolean): void {
    this.at += 1;
    const job = this.jobs.get(call.job);
    const isOver = job?.inIndex === true && (job.isCancelled || Number(job.epoch) <= Number(call.upTo));
    const isHeld = job !== undefined && this.liveRunOf(job, now, '') !== undefined;
    hold('I2', isOver || !isDropped, () => `${call.job} is dropped, and was not cancelled`);
    hold('I4', !isHeld || !isDropped, () => `${call.job} is dropped, and runs`);
    hold('I7', isDropped === (isOver && !isHeld), () => `${call.job} is over, and is not dropped`);
    if (!job || !isDropped) return;
    const cancel = this.cancels.get(call.cancelId);
    const isTold = cancel?.told.includes(nameOf(job.id, job.holder));
    if (cancel && !isTold) cancel.removed += 1;
    for (const run of this.runs.values()) if (run.job === job) run.isOver = true;
    this.left(job);
  }

  /** What the receipt of a cancel counts in the end. */
  counted(cancelId: string, removed: number, told: number): void {
    const cancel = this.cancels.get(cancelId);
    const why = (): string => `${cancelId} counts ${removed} and ${told}, not ${cancel?.removed ?? 0}`;
    hold('I7', removed === (cancel?.removed ?? 0) && told === (cancel?.told.length ?? 0), why);
  }

  /** The owner's record expired. */
  forgotten(): void {
    hold('I2', this.indexed.length === 0, () => `forgotten with ${this.indexed.length} jobs`);
    this.epoch = undefined;
    this.pending.clear();
    [this.isClosed, this.reopenedAt] = [false, undefined];
  }

  private cancelledAlone(job: JobPast | undefined, moved: string): void {
    const stays = this.epoch ?? '';
    hold('I7', moved === `${stays} to ${stays}`, () => `the cancel of a job moves ${moved}, not ${stays}`);
    if (!job?.inIndex) return;
    job.isCancelled = true;
    this.cancelsAlone.push({ at: this.at, job });
    if (this.pending.get(job.key) === job) this.pending.delete(job.key);
  }

  isCancelledAlone(job: JobPast): boolean {
    return job.isCancelled && job.inIndex && this.jobs.get(job.id) === job;
  }

  private ran(
    now: number,
    call: Begin,
    reservedAt: number,
    job: JobPast | undefined,
    fence: string,
    payload: string | undefined,
  ): void {
    const name = nameOf(call.job, call.token);
    hold('I1', reservedAt > this.lastCancelAt, () => `${name} runs, and was cancelled`);
    hold('I1', job !== undefined && call.epoch === this.epoch, () => `${name} runs in another epoch`);
    const before = this.runs.get(name);
    if (before && !before.isOver) {
      const isSame = fence === before.fence && payload === before.payload;
      hold('F7', isSame, () => `${name} begins again as ${fence}, ${payload}`);
      return;
    }
    const past = job!;
    const other = this.liveRunOf(past, now, call.token);
    hold('I30', !isTooLate(now, call, past), () => `${name} runs at ${now}, too late`);
    hold('I4', !other, () => `${name} runs beside ${other!.token}`);
    hold('I9', past.inIndex, () => `${name} runs, and has ended before`);
    hold('I9', past.result === undefined, () => `${name} runs, and has a result`);
    const mayBegin = past.key === '' || past.fence > 0 || this.pending.get(past.key) === past;
    hold('I12', mayBegin, () => `${name} runs, and was replaced`);
    hold('I12', payload === past.late, () => `${name} runs with ${payload}, not ${past.late}`);
    hold('I9', Number(fence) > past.fence, () => `${name} has fence ${fence}, not above ${past.fence}`);

    for (const run of this.runs.values()) if (run.job === past) run.isOver = true;
    const { token } = call;
    this.runs.set(name, { job: past, token, fence, payload, leaseEnd: now + LEASE_MS, isOver: false });
    past.fence = Number(fence);
    past.holder = call.token;
    past.inIndex = true;
    if (this.pending.get(past.key) === past) this.pending.delete(past.key);
    this.starts.push({ at: this.at, job: past });
  }

  private liveRunOf(job: JobPast | undefined, now: number, notToken: string): RunPast | undefined {
    return [...this.runs.values()].find(
      (run) => run.job === job && run.token !== notToken && isLive(run, now),
    );
  }

  private sawEpoch(epoch: string, answer: readonly string[]): void {
    if (this.epoch === undefined) {
      hold('I1', !this.epochs.has(epoch), () => `a forgotten owner has epoch ${epoch} again`);
      this.epoch = epoch;
      this.epochs.add(epoch);
    }
    hold('I7', epoch === this.epoch, () => `${text(answer)}, when the epoch is ${this.epoch}`);
  }

  private blameDedup(
    held: JobPast | undefined,
    word: string,
    twin: string,
    answer: readonly string[],
  ): never {
    const why = `${text(answer)}, and pending is ${held?.id ?? 'nothing'}`;
    if (held) throw new Violation(word === 'new' ? 'I10' : 'I12', why);
    const told = this.jobs.get(twin);
    if (told?.epoch !== this.epoch || told?.isCancelled) throw new Violation('I11', why);
    throw new Violation(told?.inIndex ? 'I13' : 'I14', why);
  }

  private sawRunsAgain(now: number, { at, told }: CancelPast, runs: readonly string[]): void {
    for (const name of runs) {
      const run = this.runs.get(name);
      hold('I4', run !== undefined && isLive(run, now), () => `${name} does not run`);
      hold(
        'I46',
        run!.job.reservedAt < at && told.includes(name),
        () => `${name} is younger than the cancel`,
      );
    }
  }
}

export interface Trigger {
  /** When the script accepted it. */
  readonly at: number;
  readonly strategy: Strategy;
  readonly job: JobPast;
}

/** I13: every trigger whose producer was answered has a start after it, unless its owner was cancelled, or none came in time. */
export function noTriggerIsLost(history: History, triggers: readonly Trigger[]): void {
  for (const { at, strategy, job } of triggers) {
    const isCovered = [...history.starts, ...history.expiries, ...history.cancelsAlone].some(
      (start) =>
        start.at > at &&
        (strategy === '' ? start.job === job : start.job.key === job.key && start.job.epoch === job.epoch),
    );
    const isCancelled = at < history.lastCancelAt;
    hold(
      'I13',
      isCovered || isCancelled,
      () => `the ${strategy || 'plain'} trigger of ${job.id} has no start`,
    );
  }
}

/** I30: the time is counted from the newest trigger that the job stands for. */
function isTooLate(now: number, { life }: Begin, job: JobPast | undefined): boolean {
  return life !== '' && job !== undefined && now > job.wantedAt + life;
}

function isLive(run: RunPast, now: number): boolean {
  return !run.isOver && run.leaseEnd > now;
}

function nameOf(job: string, token: string): string {
  return `${job}|${token}`;
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((each, i) => each === b[i]);
}

function text(answer: readonly unknown[]): string {
  return `{${answer.join(', ')}}`;
}
