// Cancels a thousand owners while workers and apis are killed and connections are cut. Counts the jobs that start after the
// cancel of their owner answered: there must be none, and every receipt must be done. `npm run chaos`, or
// `npm run chaos -- 200` for 200 owners. It takes a few minutes.
import { needNode } from './need-node.mjs';

needNode();
const { spawn } = await import('node:child_process');
const { randomBytes } = await import('node:crypto');
const { mkdtemp, rm } = await import('node:fs/promises');
const { tmpdir } = await import('node:os');
const nodePath = await import('node:path');
const { setTimeout: pause } = await import('node:timers/promises');
const { fileURLToPath } = await import('node:url');
const { buildIfStale } = await import('./build.mjs');
await buildIfStale();
const { startPrivateStore } = await import('#runtime');
const { Redis } = await import('ioredis');

const root = fileURLToPath(new URL('..', import.meta.url));
const OWNERS = Number(process.argv[2] ?? 1_000);
const AT_ONCE = 20;
const AT_MOST_MS = 15 * 60_000;
/** How long receipts may take to finish, and how long starts are watched after that. */
const TO_THE_END_MS = 90_000;
const OBSERVE_MS = 2_000;
const ANSWER_MS = 10_000;

const prefix = `chaos-${randomBytes(4).toString('hex')}`;
const folder = await mkdtemp(nodePath.join(tmpdir(), 'mooring-chaos-'));
const store = await startPrivateStore(folder);
const redis = new Redis(store.url, { maxRetriesPerRequest: null });
const counts = { owners: 0, jobs: 0, starts: 0, told: 0, removed: 0, late: 0, unfinished: 0, refused: 0 };
const harm = { workersKilled: 0, apisKilled: 0, cancellersKilled: 0, connectionsCut: 0 };
const trials = [];
/** When each job reported its start, ms. */
const begins = new Map();
const began = Date.now();
let isOver = false;

const fleet = {
  api: start('api'),
  canceller: start('api'),
  janitor: start('janitor'),
  workers: [start('worker'), start('worker'), start('worker')],
};
try {
  await Promise.all([fleet.api.url, fleet.canceller.url, ...fleet.workers.map(({ url }) => url)]);
  const monkeys = [harmWorkers(), harmApis(), harmConnections()];
  const owners = Array.from({ length: OWNERS }, (_, i) => `${i}`);
  await Promise.all(Array.from({ length: AT_ONCE }, () => cancelEach(owners)));
  isOver = true;
  await Promise.all(monkeys);
  const receipts = await Promise.all(trials.map(({ name }) => finalReceipt(name)));
  await pause(OBSERVE_MS);
  for (const [i, one] of trials.entries()) judge(one, receipts[i]);
} finally {
  for (const one of [fleet.api, fleet.canceller, fleet.janitor, ...fleet.workers]) one.child.kill('SIGKILL');
  redis.disconnect();
  await store.stop();
  await rm(folder, { recursive: true, force: true });
}
counts.starts = [...begins.values()].reduce((sum, times) => sum + times.length, 0);
console.log({ ...counts, ...harm, seconds: Math.round((Date.now() - began) / 1_000) });
const isBad = counts.late > 0 || counts.unfinished > 0 || counts.owners === 0;
console.log(isBad ? 'That is not as it should be.' : 'No late start, and every receipt came to its end.');
process.exit(isBad ? 1 : 0);

async function cancelEach(owners) {
  for (let name = owners.shift(); name && Date.now() - began < AT_MOST_MS; name = owners.shift()) {
    await trial(name);
    counts.owners += 1;
    if (counts.owners % 100 === 0) console.log({ ...counts, ...harm });
  }
}

/** Enqueues for one owner a running, a failing and a delayed job, and two with one deduplication key. */
async function trial(name) {
  const dedup = { strategy: 'coalesce', key: 'k' };
  const ids = await Promise.all([
    enqueue(name, { ms: between(300, 600) }),
    enqueue(name, { failTimes: 1 }),
    enqueue(name, {}, { delay: `${between(50, 350)}ms` }),
    enqueue(name, { ms: 250 }, { dedup }),
  ]);
  await pause(between(30, 180));
  ids.push(await enqueue(name, { ms: 250 }, { dedup }));
  await pause(between(0, 60));
  const jobs = new Set(ids.filter((id) => id !== undefined));
  counts.jobs += jobs.size;
  trials.push({ name, jobs, answeredAt: await cancel(name) });
}

/** Counts jobs that started after their cancel. Runs that the receipt counts are excused: only their report was late. */
function judge({ name, jobs, answeredAt }, { aborted, removed, done }) {
  counts.told += aborted;
  counts.removed += removed;
  if (!done) {
    counts.unfinished += 1;
    console.error(`The cancel of trip:${name} is not finished.`);
  }
  const starts = [...jobs].flatMap((id) => (begins.get(id) ?? []).filter((at) => at > answeredAt));
  if (starts.length <= aborted) return;
  counts.late += starts.length - aborted;
  console.error(`${starts.length} jobs of trip:${name} started late, and ${aborted} runs were told to stop.`);
}

async function enqueue(name, payload, more = {}) {
  const body = { kind: 'probe', owners: [`trip:${name}`], payload, ...more };
  const answer = await ask(await fleet.api.url, 'POST', '/v1/jobs', body);
  if (answer) return answer.id;
  counts.refused += 1;
  return undefined;
}

/** Repeats the cancel until an api answers, and returns the time of the answer. */
async function cancel(name) {
  const body = { reason: 'chaos', cancelId: `c-${name}`, close: false };
  for (;;) {
    const api = Math.random() < 0.8 ? fleet.canceller : fleet.api;
    const receipt = await ask(await api.url, 'POST', `/v1/owners/trip/${name}/cancel`, body);
    if (receipt) return Date.now();
    await pause(50);
  }
}

/** The body of the answer, or undefined without an answer or after an error. */
async function ask(url, method, path, body) {
  try {
    const response = await fetch(`${url}${path}`, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}

/** The receipt of an owner's cancel when it is done, or as it stands when the time is over. */
async function finalReceipt(name) {
  const deadline = Date.now() + TO_THE_END_MS;
  for (;;) {
    const receipt = await ask(await fleet.api.url, 'GET', `/v1/cancellations/c-${name}`);
    if (receipt?.done || Date.now() > deadline) return { aborted: 0, removed: 0, done: false, ...receipt };
    await pause(200);
  }
}

async function harmWorkers() {
  while (!isOver) {
    await pause(between(500, 2_500));
    const i = between(0, fleet.workers.length);
    fleet.workers[i].child.kill('SIGKILL');
    fleet.workers[i] = start('worker');
    harm.workersKilled += 1;
    await fleet.workers[i].url;
  }
}

async function harmApis() {
  while (!isOver) {
    await pause(between(500, 2_500));
    const which = Math.random() < 0.7 ? 'canceller' : 'api';
    fleet[which].child.kill('SIGKILL');
    fleet[which] = start('api');
    harm[`${which}sKilled`] += 1;
    await fleet[which].url;
  }
}

async function harmConnections() {
  while (!isOver) {
    await pause(between(300, 2_000));
    const lines = (await redis.client('LIST'))
      .split('\n')
      .filter((line) => /\bcmd=(xread|evalsha|bzpopmin)\b/.test(line));
    for (const line of lines.filter(() => Math.random() < 0.3)) {
      harm.connectionsCut += await redis.client('KILL', 'ID', /\bid=(\d+)/.exec(line)[1], 'SKIPME', 'yes');
    }
  }
}

/** A process of the fleet; `url` is set once it is ready. */
function start(app) {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [`${root}/dist/apps/${app}/src/main.js`], {
    env: {
      PATH,
      HOME,
      REDIS_URL: store.url,
      MOORING_PREFIX: prefix,
      LOG_LEVEL: 'debug',
      LOG_FORMAT: 'json',
      WORKER_LOCK: '2s',
      ...(app === 'api' && { PORT: '0' }),
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  readBegins(child.stdout);
  const url = new Promise((resolve) => {
    child.on('message', (word) => word.type === 'started' && resolve(word.url));
  });
  return { child, url };
}

function readBegins(stdout) {
  let unread = '';
  stdout.setEncoding('utf8').on('data', (chunk) => {
    const lines = (unread + chunk).split('\n');
    unread = lines.pop();
    for (const line of lines) {
      if (!line.includes('"job.began"')) continue;
      const { jobId, time } = JSON.parse(line);
      begins.set(jobId, [...(begins.get(jobId) ?? []), time]);
    }
  });
}

function between(least, most) {
  return Math.floor(least + Math.random() * (most - least));
}
