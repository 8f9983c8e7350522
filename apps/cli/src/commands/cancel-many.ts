import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Receipt } from '../answers.js';
import type { ParsedArgs } from '../arguments.js';
import type { ExitCode, Tools } from '../command.js';
import { formatOwner, type OwnerName } from '../owner-name.js';
import { readOwnerList, type ListedOwner } from '../owner-list.js';
import { isTransient, Refused, Unreachable, WrongUsage } from '../problems.js';
import { renderFailure, renderProgress, renderTally, Tally } from '../render/tally.js';

const CONCURRENCY = 8;
const TRIES = 4;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

type AskOne = (named: OwnerName, cancelId: string) => Promise<Receipt>;

/** Cancels every owner of a list, a few at a time. Repeating an interrupted run under its id is safe. */
export async function cancelMany(parsed: ParsedArgs, askOne: AskOne, tools: Tools): Promise<ExitCode> {
  const { out } = tools;
  const concurrency = parsed.whole('concurrency', 1, 64) ?? CONCURRENCY;
  const run = readRun(parsed.text('run'));
  const path = parsed.text('from')!;
  // The whole list is validated before the first owner is cancelled.
  const listed = readOwnerList(await tools.readInput(path), path);
  const tally = new Tally(listed.length);
  if (listed.length === 0) {
    out.note(`${path === '-' ? 'Standard input' : path} names no owner; nothing was cancelled.`);
    return 0;
  }
  out.mustFinish = true;
  out.note(
    `Run ${run}, ${listed.length} to cancel. If it is interrupted, repeat the command with --run ${run}`,
  );
  await inParallel(listed, concurrency, tally, async (one) => {
    try {
      tally.cancelled(await withRetries(() => askOne(one.owner, cancelIdOf(run, one.owner)), tally));
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
    out.note(renderTally(tally, run, out.noteScreen));
  } else {
    for (const failure of tally.failures) out.print(renderFailure(failure, out.screen));
    out.print(renderTally(tally, run, out.screen));
  }
  if (tally.stoppedBy instanceof Unreachable && tally.owners === 0) throw tally.stoppedBy;
  const stillRunsAfterWait = parsed.has('wait') && tally.running > 0;
  return tally.failures.length > 0 || stillRunsAfterWait ? 1 : 0;
}

/** The id depends on run and owner only, so that a repeated run cancels nothing a second time. */
export function cancelIdOf(run: string, owner: OwnerName): string {
  return `${run}-${createHash('sha256').update(formatOwner(owner)).digest('hex').slice(0, 24)}`;
}

function readRun(typed: string | undefined): string {
  if (typed === undefined) return `run-${randomBytes(6).toString('hex')}`;
  if (/^[\w.-]{1,39}$/.test(typed)) return typed;
  throw new WrongUsage(
    '--run must be the id that a run printed: 1 to 39 letters, digits or the characters . _ -',
  );
}

/** Stops early once the tally says that further calls are pointless. */
async function inParallel(
  listed: readonly ListedOwner[],
  concurrency: number,
  tally: Tally,
  work: (one: ListedOwner) => Promise<void>,
): Promise<void> {
  const rest = listed.values();
  // The loops share one iterator, so each owner is taken once.
  const loop = async (): Promise<void> => {
    for (const one of rest) {
      await work(one);
      if (tally.stoppedBy) return;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
}

/** Retries transient errors with exponential back-off. */
async function withRetries(ask: () => Promise<Receipt>, tally: Tally): Promise<Receipt> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!isTransient(error) || tries === TRIES || tally.stoppedBy) throw error;
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
