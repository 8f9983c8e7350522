/*
 * The scripts of the lifecycle, as far as one owner and two jobs need them: what reserve.lua, begin.lua, commit.lua,
 * end.lua and cancel.lua read and write, in their order. A fence and a token are one number here; deadlines, limits and
 * payloads are left out. Renewal is left out too: all it can do is tell a run to fail, and a run may fail at any time.
 */

/** One entry of the owner's index: `<epoch>|<reserved at>|<fence>|<token>`. */
export interface Entry {
  epoch: number;
  at: number;
  token: number;
}

export interface Run {
  job: number;
  token: number;
  isOver: boolean;
}

/** What the store holds of the owner. */
export interface Owner {
  record: { epoch: number; index: (Entry | null)[] } | null;
  runs: Run[];
  dedup: { epoch: number; job: number } | null;
  done: boolean[];
  /** The clock that epochs come from: the newest epoch that any record of this owner ever had. */
  clock: number;
  lastToken: number;
}

/** What can be left out of the protocol, one thing at a time, to see that it is missed. */
export type Flaw =
  | 'no epoch'
  | 'begin split in read and write'
  | 'running set keyed by job id'
  | 'dedup id without epoch'
  | 'reserve split in epoch and index'
  | 'record expires while its index is not empty'
  | 'dangling entries dropped without grace'
  | 'missing record treated as run'
  | 'epoch restarts at a fixed value'
  | 'commit without fence check'
  | 'end drops the entry of a newer run'
  | 'skip leaves the entry of its twin as old as it was'
  | 'begin runs a job that is in no index';

/** Whether the jobs have a deduplication key, and what is wrong. */
export class Rules {
  constructor(
    readonly isKeyed: boolean,
    private readonly flaws: readonly Flaw[] = [],
  ) {}

  has(flaw: Flaw): boolean {
    return this.flaws.includes(flaw);
  }
}

export type Reserved = { word: 'new' | 'skip'; job: number; epoch: number };
export type Verdict = 'run' | 'done' | 'cancelled' | 'superseded' | 'busy' | 'unknown';

/** The epoch that a job enqueued now gets; an owner without a record gets one. */
export function currentEpoch(owner: Owner, rules: Rules): number {
  if (!owner.record) {
    const epoch = rules.has('epoch restarts at a fixed value') ? 1 : owner.clock + 1;
    owner.clock = Math.max(owner.clock, epoch);
    owner.record = { epoch, index: [null, null] };
  }
  return owner.record.epoch;
}

export function reserve(owner: Owner, job: number, rules: Rules): Reserved {
  const twin = rules.isKeyed ? pendingTwin(owner, job, rules) : undefined;
  const epoch = currentEpoch(owner, rules);
  if (twin !== undefined) {
    const entry = owner.record!.index[twin]!;
    if (!rules.has('skip leaves the entry of its twin as old as it was')) entry.at += 1;
    return { word: 'skip', job: twin, epoch };
  }
  writeIndex(owner, job, epoch, rules);
  return { word: 'new', job, epoch };
}

function pendingTwin({ record, dedup }: Owner, job: number, rules: Rules): number | undefined {
  if (!record || !dedup || dedup.job === job) return undefined;
  const isOfThisEpoch = dedup.epoch === record.epoch || rules.has('dedup id without epoch');
  return isOfThisEpoch && record.index[dedup.job] ? dedup.job : undefined;
}

export function writeIndex(owner: Owner, job: number, epoch: number, { isKeyed }: Rules): void {
  // Only a reserve that is split can find the record gone here.
  if (!owner.record) return;
  owner.record.index[job] = { epoch, at: 0, token: 0 };
  if (isKeyed) owner.dedup = { epoch, job };
}

/** What begin.lua decides, before it writes. */
export function judge(
  { record, runs, dedup, done }: Owner,
  job: number,
  epoch: number,
  rules: Rules,
): Verdict {
  if (!record) return rules.has('missing record treated as run') ? 'run' : 'unknown';
  if (record.epoch !== epoch && !rules.has('no epoch')) return 'cancelled';
  const entry = record.index[job];
  // Ended, by a run that overtook this one; nothing may run it twice.
  if (!entry && !rules.has('begin runs a job that is in no index')) return 'superseded';
  const hasBegun = !!entry && entry.token !== 0;
  if (hasBegun && isLive(runs, job, entry.token)) return 'busy';
  const isPending = dedup?.job === job && dedup.epoch === epoch;
  if (rules.isKeyed && !isPending && !hasBegun) return 'superseded';
  return hasBegun && done[job] ? 'done' : 'run';
}

/** What begin.lua writes when it says run; answers the run's token. */
export function writeRun(owner: Owner, job: number, epoch: number): number {
  const token = (owner.lastToken += 1);
  owner.runs.push({ job, token, isOver: false });
  if (!owner.record) return token;
  if (owner.dedup?.job === job && owner.dedup.epoch === epoch) owner.dedup = null;
  const entry = owner.record.index[job];
  if (entry?.token) owner.runs = owner.runs.filter((run) => run.job !== job || run.token !== entry.token);
  owner.record.index[job] = { epoch, at: entry?.at ?? 0, token };
  return token;
}

export function commit(
  owner: Owner,
  job: number,
  token: number,
  epoch: number,
  rules: Rules,
): 'ok' | 'cancelled' | 'stale' {
  if (owner.record?.epoch !== epoch) return 'cancelled';
  const isHeld = owner.runs.some((run) => run.job === job && run.token === token);
  const isNewest = owner.record?.index[job]?.token === token;
  if (!rules.has('commit without fence check') && (!isHeld || !isNewest)) return 'stale';
  owner.done[job] = true;
  return 'ok';
}

/** `token` is 0 when no run began. */
export function end(owner: Owner, job: number, token: number, leaves: boolean, rules: Rules): void {
  const holder = owner.record?.index[job]?.token ?? 0;
  const isOvertaken =
    !rules.has('end drops the entry of a newer run') &&
    holder !== 0 &&
    holder !== token &&
    isLive(owner.runs, job, holder);
  const byJob = rules.has('running set keyed by job id');
  if (token !== 0)
    owner.runs = owner.runs.filter((run) => run.job !== job || (!byJob && run.token !== token));
  if (!leaves || !owner.record || isOvertaken) return;
  owner.record.index[job] = null;
  owner.done[job] = false;
  if (rules.isKeyed && owner.dedup?.job === job) owner.dedup = null;
}

/** Answers the tokens of the runs that are to be told. */
export function cancel(owner: Owner, rules: Rules): number[] {
  const running = owner.runs.filter((run) => !run.isOver).map((run) => run.token);
  if (!owner.record) {
    currentEpoch(owner, rules);
    return running;
  }
  const isFromClock = !rules.has('epoch restarts at a fixed value');
  owner.record.epoch = isFromClock ? owner.clock + 1 : owner.record.epoch + 1;
  owner.clock = Math.max(owner.clock, owner.record.epoch);
  return running;
}

/** What the janitor does to an entry without a job that it saw: nothing if the entry has changed, or a run is live. */
export function dropDangling(owner: Owner, job: number, seen: Entry, rules: Rules): boolean {
  const entry = owner.record?.index[job];
  if (!entry || entry.at !== seen.at || entry.token !== seen.token || entry.epoch !== seen.epoch)
    return false;
  if (isLive(owner.runs, job, entry.token)) return false;
  end(owner, job, 0, true, rules);
  return true;
}

export function isLive(runs: readonly Run[], job: number, token: number): boolean {
  return runs.some((run) => run.job === job && run.token === token && !run.isOver);
}
