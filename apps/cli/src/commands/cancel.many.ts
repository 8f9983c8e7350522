import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Receipt } from '../answers.js';
import type { Given } from '../arguments.js';
import type { ExitCode, Tools } from '../command.js';
import { formatOwner, type OwnerName } from '../owner.name.js';
import { readOwnerList, type ListedOwner } from '../owner.list.js';
import { isPassing, Refused, Unreachable, WrongUsage } from '../problems.js';
import { renderFailure, renderProgress, renderTally, Tally } from '../render/tally.js';

const CONCURRENCY = 8;
const TRIES = 4;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

type AskOne = (named: OwnerName, cancelId: string) => Promise<Receipt>;

/** Cancels every owner of a list, some at a time; a run that was cut short is repeated under its id without harm. */
export async function cancelMany(given: Given, askOne: AskOne, tools: Tools): Promise<ExitCode> {
  const { out } = tools;
  const concurrency = given.whole('concurrency', 1, 64) ?? CONCURRENCY;
  const run = readRun(given.text('run'));
  const path = given.text('from')!;
  // All of it is read and found right before the first is cancelled.
  const listed = readOwnerList(await tools.readInput(path), path);
  const tally = new Tally(listed.length);
  if (listed.length === 0) {
    out.note(`${path === '-' ? 'What was piped in' : path} names no owner: nothing is cancelled.`);
    return 0;
  }
  out.mustFinish = true;
  out.note(`Run ${run}, ${listed.length} to cancel. If it is cut short: the same command, with --run ${run}`);
  await inParallel(listed, concurrency, tally, async (one) => {
    try {
      tally.cancelled(await insistently(() => askOne(one.owner, cancelIdOf(run, one.owner)), tally));
      if (out.isJson) out.line(tally.last);
    } catch (error) {
      if (!(error instanceof Refused || error instanceof Unreachable)) throw error;
      tally.failed(one, error);
      if (out.isJson) out.line(failureLine(one, error));
    }
    out.live(renderProgress(tally));
  });
  out.clearLive();
  if (out.isJson) {
    out.note(renderTally(tally, run, out.paintNote));
  } else {
    for (const failure of tally.failures) out.print(renderFailure(failure, out.paint));
    out.print(renderTally(tally, run, out.paint));
  }
  if (tally.stoppedBy instanceof Unreachable && tally.owners === 0) throw tally.stoppedBy;
  const isWaitedForInVain = given.has('wait') && tally.running > 0;
  return tally.failures.length > 0 || isWaitedForInVain ? 1 : 0;
}

/** The same for the same owner in the same run: asking again is then no second cancellation. */
export function cancelIdOf(run: string, owner: OwnerName): string {
  return `${run}-${createHash('sha256').update(formatOwner(owner)).digest('hex').slice(0, 24)}`;
}

function readRun(given: string | undefined): string {
  if (given === undefined) return `run-${randomBytes(6).toString('hex')}`;
  if (/^[\w.-]{1,39}$/.test(given)) return given;
  throw new WrongUsage('--run is the id that a run printed: 1 to 39 letters, digits, and the signs . _ -');
}

/** Every one of them, unless going on is no use. */
async function inParallel(
  listed: readonly ListedOwner[],
  lanes: number,
  tally: Tally,
  work: (one: ListedOwner) => Promise<void>,
): Promise<void> {
  const rest = listed.values();
  // They share one iterator, so each takes what no other has taken.
  const lane = async (): Promise<void> => {
    for (const one of rest) {
      await work(one);
      if (tally.stoppedBy) return;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** A refusal that may pass is worth another try. */
async function insistently(ask: () => Promise<Receipt>, tally: Tally): Promise<Receipt> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!isPassing(error) || tries === TRIES || tally.stoppedBy) throw error;
      await pause(pauseAfter(error, tries));
    }
  }
}

function pauseAfter(error: unknown, tries: number): number {
  const asked = error instanceof Refused ? Number(error.retryAfter ?? 0) * 1_000 : 0;
  return Math.min(LONGEST_PAUSE_MS, Math.max(asked || 0, FIRST_PAUSE_MS * 2 ** (tries - 1)));
}

function failureLine({ owner, line }: ListedOwner, error: Refused | Unreachable): object {
  const problem = error instanceof Refused ? error.problem : undefined;
  return { owner: formatOwner(owner), line, error: problem ?? { code: error.name, detail: error.message } };
}
