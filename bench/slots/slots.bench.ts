import { Enqueuer, type EnqueueOptions } from '#nestjs';
import { QueueEvents } from 'bullmq';
import { Redis } from 'ioredis';
import { BenchProcess } from '../harness/bench-process.js';
import { median } from '../harness/median.js';
import { needRedis, startRedis } from '../harness/redis-server.js';
import { endWhenCutShort, readOptions } from '../harness/rounds.js';
import { PREFIX, startApp, work } from './slots.app.js';

/*
 * Measures whether a line of jobs that wait for one key slows the jobs of other keys: with and without the line, in turns.
 *   node dist/bench/slots/slots.bench.js [--json] [--rounds N]
 */
const WORKERS = 2;
const CONCURRENCY = 10;
const OTHERS = 50;
const OTHERS_MS = 100;
const HOT = 200;
const HOT_MS = 10;
const MOST_RATIO = 1.1;

const { rounds, json } = readOptions();
endWhenCutShort();
await needRedis();

const store = await startRedis();
const redis = new Redis(store.url, { maxRetriesPerRequest: null });
const app = await startApp(redis);
const enqueuer = app.get(Enqueuer);
const events = new QueueEvents('work', { connection: { url: store.url }, prefix: PREFIX });
const done = new Set<string>();
const listeners = new Set<() => void>();
events.on('completed', ({ jobId }) => {
  done.add(jobId);
  for (const listener of listeners) listener();
});
await events.waitUntilReady();
const workers = await Promise.all(
  Array.from({ length: WORKERS }, () =>
    BenchProcess.start(new URL('worker.process.js', import.meta.url), [store.url, String(CONCURRENCY)]),
  ),
);

try {
  const alone: number[] = [];
  const beside: number[] = [];
  // In turns, so that a busy minute of the machine is a busy minute for both. Round 0 warms up.
  for (let round = 0; round <= rounds; round += 1) {
    const ms = await othersMs();
    const line = await hotLine();
    const msBeside = await othersMs();
    await completed(line);
    if (round > 0) {
      alone.push(ms);
      beside.push(msBeside);
    }
  }
  report(alone, beside);
} finally {
  await Promise.all(workers.map((worker) => worker.stop()));
  await events.close();
  await app.close();
  redis.disconnect();
  await store.stop();
}

/** How long jobs with distinct keys take, from the first request to the last completion. */
async function othersMs(): Promise<number> {
  const start = performance.now();
  const ids = await enqueue(OTHERS, OTHERS_MS, (i) => ({ key: `other:${i}`, limit: 1 }));
  await completed(ids);
  return performance.now() - start;
}

/** Enqueues a line of jobs that run one after the other; resolves once the first has run. */
async function hotLine(): Promise<string[]> {
  const ids = await enqueue(HOT, HOT_MS, () => ({ key: 'hot', limit: 1 }));
  await completed(ids.slice(0, CONCURRENCY));
  return ids;
}

function enqueue(count: number, ms: number, slot: (i: number) => EnqueueOptions['slot']): Promise<string[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const options = { owners: [`bench:${i}`], slot: slot(i) };
      return (await enqueuer.enqueue(work, { ms }, options)).id;
    }),
  );
}

function completed(ids: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!ids.every((id) => done.has(id))) return;
      listeners.delete(look);
      resolve();
    };
    listeners.add(look);
    look();
  });
}

function report(alone: readonly number[], beside: readonly number[]): void {
  const ratio = median(beside.map((ms, i) => ms / alone[i]!));
  const missed = ratio > MOST_RATIO ? [`others at most ${MOST_RATIO} times as long beside a line`] : [];
  const figures = { rounds, aloneMs: median(alone), besideMs: median(beside), ratio };
  console.log(
    json
      ? JSON.stringify({ ...figures, missed }, null, 2)
      : [
          `${OTHERS} jobs of ${OTHERS_MS} ms on keys of their own, ${WORKERS} workers x ${CONCURRENCY}`,
          `  alone                          ${figures.aloneMs.toFixed(0)} ms`,
          `  beside a line of ${HOT} on one key ${figures.besideMs.toFixed(0)} ms`,
          `  ratio, median of rounds        ${ratio.toFixed(2)}`,
          missed.length === 0 ? 'Every target holds.' : `Missed: ${missed.join('; ')}.`,
        ].join('\n'),
  );
  process.exitCode = missed.length > 0 ? 1 : 0;
}
