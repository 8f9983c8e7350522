import { loadavg } from 'node:os';
import { needRedis } from '../harness/redis-server.js';
import { endWhenCutShort } from '../harness/rounds.js';
import { underBacklog } from './backlog.js';
import { cancels } from './cancelled.js';
import { Contest, type Row } from './contest.js';
import {
  enqueueAlone,
  enqueueBatches,
  enqueueOneByOne,
  enqueueWithDedup,
  enqueueWithSlots,
} from './enqueued.js';
import { readCoreOptions, type Question } from './options.js';
import {
  processByFour,
  processLong,
  processNoOps,
  processShort,
  processWithDedup,
  processWithSlots,
} from './processed.js';
import { cancelTable, loadLines, rowLine, ROWS_HEAD, verdictTable } from './report.js';
import { sidesThatRun } from './sides.js';
import { storeCost } from './store-cost.js';
import { needRivals, Stores } from './stores.js';
import { verdicts } from './targets.js';

/*
 * Measures the cost of owners beside plain BullMQ, and that of a kind in a Nest application beside the core. Every side runs every measurement in the same run.
 *   node dist/bench/core/core.bench.js [--rounds 5] [--sides plain,core] [--what enqueue,store] [--large] [--targets] [--json]
 */
const CONTESTS: Partial<Record<Question, (contest: Contest) => Promise<void>>> = {
  enqueue: enqueueOneByOne,
  alone: enqueueAlone,
  batch: enqueueBatches,
  process0: processNoOps,
  process1: processShort,
  process10: processLong,
  workers: processByFour,
  dedup: async (contest) => {
    await enqueueWithDedup(contest);
    await processWithDedup(contest);
  },
  slots: async (contest) => {
    await enqueueWithSlots(contest);
    await processWithSlots(contest);
  },
  store: storeCost,
};

const BACKLOG_ROUNDS = 3;

const { rounds, sides, what, json, large, targets } = readCoreOptions();
endWhenCutShort();
process.setMaxListeners(50);
const redis = await needRedis();
const loadBefore = loadavg()[0]!;
const say = (line: string): void => (json ? console.error(line) : console.log(line));

needRivals(sides, say);
say(ROWS_HEAD);
const rows = [...(await onOneStore()), ...(what.includes('backlog') ? await onStoresOfTheirOwn() : [])];
const cancelled = what.includes('cancel') ? await cancels(rounds, large) : [];
const judged = verdicts(rows, cancelled);
const load = { before: loadBefore, after: loadavg()[0]! };
say([cancelTable(cancelled), verdictTable(judged), loadLines(load)].join('\n'));
if (json)
  console.log(JSON.stringify({ redis, rounds, load, rows, cancels: cancelled, verdicts: judged }, null, 2));
process.exitCode = targets && judged.some(({ holds }) => holds === false) ? 1 : 0;

function sayRow(row: Row): void {
  say(rowLine(row));
}

async function onOneStore(): Promise<readonly Row[]> {
  const asked = what.map((question) => CONTESTS[question]).filter((ask) => ask !== undefined);
  if (asked.length === 0) return [];
  const stores = await Stores.shared(sides);
  const contest = await Contest.start(sides, rounds, stores, sayRow);
  try {
    for (const ask of asked) await ask(contest);
    return contest.rows;
  } finally {
    await contest.stop();
    await stores.stop();
  }
}

async function onStoresOfTheirOwn(): Promise<readonly Row[]> {
  const running = sidesThatRun(sides);
  const stores = await Stores.apart(running);
  const contest = await Contest.start(running, Math.min(rounds, BACKLOG_ROUNDS), stores, sayRow);
  try {
    await underBacklog(contest, running, large);
    return contest.rows;
  } finally {
    await contest.stop();
    await stores.stop();
  }
}
