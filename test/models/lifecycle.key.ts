import type { Entry } from './lifecycle.scripts.js';
import { isUnderWay, type State, type Worker } from './lifecycle.state.js';

/**
 * States that behave alike are one. Both workers do the same, and so do both producers with their jobs: which of them it is
 * makes no difference. Of epochs and tokens only the order counts; of what nobody will ask for again, nothing does.
 */
export function key(state: State): string {
  const [one, other] = [sideOf(state, 0), sideOf(state, 1)];
  if (one < other) return keyUnder(state, IN_ORDER);
  if (one > other) return keyUnder(state, MIRRORED);
  const [straight, mirrored] = [keyUnder(state, IN_ORDER), keyUnder(state, MIRRORED)];
  return straight < mirrored ? straight : mirrored;
}

const IN_ORDER = [0, 1];
const MIRRORED = [1, 0];
const WANTS_ITS_EPOCH = new Set<Worker['at']>(['picked', 'judged', 'runs']);

/** A producer and its own job, without numbers. */
function sideOf(state: State, job: number): string {
  const cameBefore = isAlive(state, job) && state.cameBefore[job]!;
  return (
    state.producers[job]!.at[0]! +
    state.queue[job]![0]! +
    flag(state.owner.done[job]!) +
    flag(state.toForget[job]!) +
    flag(state.cameAfter[job]!) +
    flag(state.isServed[job]!) +
    flag(cameBefore) +
    flag(state.commits[job]! > 0)
  );
}

/** `order` lists the jobs; a job's place in it is its name. With two jobs it is also how to undo it. */
function keyUnder(state: State, order: readonly number[]): string {
  const { owner, carries, producers, workers, janitor: sweep } = state;
  const { record, dedup } = owner;
  const epochs = [record?.epoch ?? 0, dedup?.epoch ?? 0];
  const tokens: number[] = [];
  for (const job of order) {
    epochs.push(isAlive(state, job) ? carries[job]! : 0, producers[job]!.epoch);
    tokens.push(record?.index[job]?.token ?? 0);
  }
  for (const each of workers) tokens.push(each.at === 'dead' && each.leaseIsOver ? 0 : each.token);

  let text = state.canceller[0]! + state.crashesLeft + state.pausesLeft;
  for (const epoch of epochs) text += rank(epoch, epochs);
  text += record ? 'r' : '-';
  text += dedup ? order[dedup.job]! : '-';
  if (sweep) text += `j${order[sweep.job]!}${isUnchanged(record?.index[sweep.job], sweep.seen)}`;
  for (const job of order) {
    const entry = record?.index[job];
    text += sideOf(state, job) + (entry ? rank(entry.token, tokens) : '-');
    if (isUnderWay(producers[job]!)) text += order[producers[job]!.job]!;
  }
  const runs = owner.runs
    .filter(({ token, isOver }) => !isOver || tokens.includes(token))
    .map((run) => `/${order[run.job]}${rank(run.token, tokens)}${flag(run.isOver)}`);
  const doings = workers.map((each, w) => doingOf(each, order, rank(tokens[2 + w]!, tokens), state.newest));
  return text + runs.toSorted().join('') + doings.toSorted().join('') + state.broke;
}

function doingOf(
  { at, job, token, holdsLock, isPaused, leaseIsOver, leaves }: Worker,
  order: readonly number[],
  rankOfToken: number,
  newest: readonly number[],
): string {
  if (at === 'idle') return '.i';
  const flags =
    flag(holdsLock) + flag(isPaused) + flag(leaseIsOver) + flag(leaves) + flag(newest[job] === token);
  return `.${at.slice(0, 2)}${order[job]}${rankOfToken}${flags}`;
}

function isAlive({ queue, workers }: State, job: number): boolean {
  return queue[job] !== 'none' || workers.some((each) => each.job === job && WANTS_ITS_EPOCH.has(each.at));
}

function isUnchanged(entry: Entry | null | undefined, seen: Entry): boolean {
  return !!entry && entry.at === seen.at && entry.token === seen.token && entry.epoch === seen.epoch;
}

/** Its place among others; none stays none. */
function rank(number: number, among: readonly number[]): number {
  if (number === 0) return 0;
  let place = 1;
  for (const other of among) if (other !== 0 && other < number) place += 1;
  return place;
}

function flag(is: boolean): string {
  return is ? '1' : '0';
}
