import { loadavg } from 'node:os';
import { median } from '../harness/median.js';
import { needRedis, startRedis } from '../harness/redis-server.js';
import { endWhenCutShort, readOptions } from '../harness/rounds.js';
import { quietDelay, type QuietDelay } from './quiet.js';
import { BESIDE, Place, WAYS, type Way } from './ways.js';

/*
 * Measures what rates of slots and fair turns cost beside the same work without them, and how long a noisy owner holds up a quiet one.
 *   node dist/bench/limits/limits.bench.js [--json] [--rounds N] [--large]
 * With --large the noisy owner has 100,000 jobs.
 */
const JOBS = 10_000;
const CONCURRENCY = 50;
const BACKLOG = { small: 10_000, large: 100_000 };
/** One of the noisy owner waits in the same round, and one may have been fetched that has not begun yet. */
const MOST_BEFORE_QUIET = 2;

/** µs a job. */
interface Cost {
  readonly addStore: number;
  readonly addProcess: number;
  readonly runStore: number;
  readonly runProcess: number;
}
const PARTS = ['addStore', 'addProcess', 'runStore', 'runProcess'] as const;

const { rounds, json, large } = readOptions();
endWhenCutShort();
await needRedis();
const store = await startRedis();

try {
  const costs = await measureCosts();
  const backlog = large ? BACKLOG.large : BACKLOG.small;
  const quiet = [
    await quietDelay(store.url, false, BACKLOG.small),
    await quietDelay(store.url, true, backlog),
  ];
  report(costs, quiet);
} finally {
  await store.stop();
}

/** In turns, in another order each round: a busy minute of the machine is one for all. Round 0 warms up. */
async function measureCosts(): Promise<Map<Way, Cost[]>> {
  const costs = new Map<Way, Cost[]>(WAYS.map((way) => [way, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (let turn = 0; turn < WAYS.length; turn += 1) {
      const way = WAYS[(turn + round) % WAYS.length]!;
      const cost = await costOf(way);
      if (round > 0) costs.get(way)!.push(cost);
    }
  }
  return costs;
}

async function costOf(way: Way): Promise<Cost> {
  const place = new Place(store.url);
  await place.redis.flushall();
  const added = await spentOn(place, () => place.addAll(JOBS, way));
  const ran = await spentOn(place, () => place.work(JOBS, CONCURRENCY, async () => undefined));
  await place.close();
  return { addStore: added.store, addProcess: added.process, runStore: ran.store, runProcess: ran.process };
}

/** µs of the store and of this process, a job. */
async function spentOn(place: Place, work: () => Promise<void>): Promise<{ store: number; process: number }> {
  const [storeMs, before] = [await place.storeMs(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return { store: (((await place.storeMs()) - storeMs) / JOBS) * 1_000, process: (user + system) / JOBS };
}

function report(costs: ReadonlyMap<Way, readonly Cost[]>, quiet: readonly QuietDelay[]): void {
  const rows = WAYS.map((way) => {
    const [own, beside] = [costs.get(way)!, costs.get(BESIDE[way] ?? way)!];
    const parts = PARTS.map((part) => ({
      part,
      us: median(own.map((cost) => cost[part])),
      ratio: median(own.map((cost, i) => cost[part] / beside[i]![part])),
    }));
    return { way, beside: BESIDE[way], parts };
  });
  const missed = quiet
    .filter(({ fair, most }) => fair && most > MOST_BEFORE_QUIET)
    .map(({ most }) => `a quiet job waits for at most ${MOST_BEFORE_QUIET} of a noisy owner, not ${most}`);
  const load = loadavg()[0]!;
  console.log(
    json
      ? JSON.stringify({ rounds, rows, quiet, load, missed }, null, 2)
      : [
          `µs a job, and the median ratio to the same without it; ${rounds} rounds of ${JOBS} jobs, load ${load.toFixed(1)}`,
          `${''.padEnd(34)}${PARTS.map((part) => part.padStart(16)).join('')}`,
          ...rows.map(
            ({ way, beside, parts }) =>
              `${`${way}${beside ? ` / ${beside}` : ''}`.padEnd(34)}${parts.map(({ us, ratio }) => `${us.toFixed(1)} (${ratio.toFixed(2)})`.padStart(16)).join('')}`,
          ),
          ...quiet.map(
            ({ fair, backlog, most }) =>
              `a quiet owner's job waits for at most ${most} of a noisy owner with ${backlog} jobs, ${fair ? 'with' : 'without'} fair turns`,
          ),
          missed.length === 0 ? 'Every target holds.' : `Missed: ${missed.join('; ')}.`,
        ].join('\n'),
  );
  process.exitCode = missed.length > 0 ? 1 : 0;
}
