import { MooredQueue, Owners } from '#core';
import { migrate, Outbox, OutboxRelay, OutboxRows, QueuesTarget } from '#outbox';
import { Redis } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'pg';
import { median } from '../harness/median.js';
import { findPostgres, startPostgres } from '../harness/postgres-server.js';
import { needRedis, startRedis } from '../harness/redis-server.js';
import { endWhenCutShort, readOptions } from '../harness/rounds.js';

/*
 * Measures the relay of the outbox: rows a second, with one relay and with two, and the time from a commit until the job is in its queue.
 *   node dist/bench/outbox/outbox.bench.js [--json] [--rounds N]
 */
const ROWS = 5_000;
const ROWS_A_TRANSACTION = 500;
const CANCELS = 1_000;
const COMMITS = 200;
const PREFIX = 'bench';
const QUEUE = 'audio';

const { rounds, json } = readOptions();
endWhenCutShort();
await needRedis();
const bin = findPostgres();
if (!bin) {
  console.error('The benchmark outbox needs PostgreSQL (on Debian: apt-get install postgresql).');
  process.exit(2);
}

const store = await startRedis();
const postgres = await startPostgres(bin);
const pool = new Pool({ connectionString: postgres.url, max: 12 });
pool.on('error', () => undefined);
await migrate(pool);
const redis = new Redis(store.url, { maxRetriesPerRequest: null });
const place = { connection: redis, prefix: PREFIX };
const queue = new MooredQueue(QUEUE, place);
const owners = new Owners(place);
const target = new QueuesTarget([queue], owners);
const rows = new OutboxRows(pool);
const outbox = new Outbox();

try {
  const found: Record<string, number[]> = {};
  // Round 0 warms up.
  for (let round = 0; round <= rounds; round += 1) {
    const measured = {
      'direct enqueues a second': await perSecond(ROWS, direct),
      'rows written a second': await perSecond(ROWS, write),
      'rows relayed a second, 1 relay': await perSecond(ROWS, () => relayed(1)),
      'rows relayed a second, 2 relays': (await write(), await perSecond(ROWS, () => relayed(2))),
      'cancels relayed a second, 1 relay': (await writeCancels(), await perSecond(CANCELS, () => relayed(1))),
      ...(await latencies()),
    };
    if (round === 0) continue;
    for (const [what, value] of Object.entries(measured)) (found[what] ??= []).push(value);
  }
  const report = Object.fromEntries(Object.entries(found).map(([what, values]) => [what, median(values)]));
  if (json) console.log(JSON.stringify(report, null, 2));
  else
    for (const [what, value] of Object.entries(report))
      console.log(what.padEnd(40), value.toFixed(1).padStart(10));
} finally {
  await Promise.all([queue.close(), owners.close(), pool.end()]);
  redis.disconnect();
  await postgres.stop();
  await store.stop();
}

async function perSecond(count: number, work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (count * 1_000) / (performance.now() - start);
}

function jobs(count: number) {
  return Array.from({ length: count }, (_, n) => ({
    queue: QUEUE,
    name: 'x',
    data: { n },
    opts: { owners: [`photo:${n % 1_000}`] },
  }));
}

/** As the relay adds them: many under way, each in its own call. */
async function direct(): Promise<void> {
  const all = jobs(ROWS);
  for (let from = 0; from < ROWS; from += ROWS_A_TRANSACTION)
    await Promise.all(
      all.slice(from, from + ROWS_A_TRANSACTION).map((job) => queue.enqueue(job.name, job.data, job.opts)),
    );
}

async function write(): Promise<void> {
  for (let from = 0; from < ROWS; from += ROWS_A_TRANSACTION)
    await outbox.enqueueAll(pool, jobs(ROWS_A_TRANSACTION));
}

async function writeCancels(): Promise<void> {
  for (let n = 0; n < CANCELS; n += 1) await outbox.cancel(pool, `photo:${n}`, { close: false });
}

async function relayed(count: number): Promise<void> {
  const relays = Array.from({ length: count }, () => new OutboxRelay(pool, target, { pollEvery: 50 }));
  for (const relay of relays) relay.start();
  while ((await rows.counts()).pending > 0) await pause(10);
  await Promise.all(relays.map((relay) => relay.stop()));
}

/** Single transactions, one after the other, with an idle relay. */
async function latencies(): Promise<Record<string, number>> {
  const relay = new OutboxRelay(pool, target);
  relay.start();
  const reader = redis.duplicate();
  const times: number[] = [];
  const client = await pool.connect();
  let last = (await redis.xrevrange(`${PREFIX}:${QUEUE}:events`, '+', '-', 'COUNT', 1))[0]?.[0] ?? '0';
  for (let n = 0; n < COMMITS; n += 1) {
    await client.query('begin');
    await outbox.enqueueAll(client, jobs(1));
    await client.query('commit');
    const committed = performance.now();
    const added = await reader.xread('BLOCK', 10_000, 'STREAMS', `${PREFIX}:${QUEUE}:events`, last);
    times.push(performance.now() - committed);
    last = added![0]![1].at(-1)![0];
  }
  client.release();
  reader.disconnect();
  await relay.stop();
  const sorted = times.toSorted((a, b) => a - b);
  return {
    'commit to job added, ms, median': sorted[COMMITS / 2]!,
    'commit to job added, ms, 99 %': sorted[Math.floor(COMMITS * 0.99)]!,
  };
}
