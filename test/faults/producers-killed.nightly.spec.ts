import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { TestProcess } from '../support/process.js';
import { until } from '../support/until.js';

const ROUNDS = 10;
const TRIGGERS = 1_000;
const PRODUCERS = 4;
/** How many requests a producer has in flight at once. */
const AT_ONCE = 5;
const OWNER = 'site:1';
const LOOK_EVERY_MS = 10;

interface Accepted {
  readonly id: string;
  readonly asked: number;
}

/** I10, I13: many producers use one key; producers and workers are killed at random. */
describe('kill -9 of producers and workers of one key', () => {
  let fleet: Fleet;
  let producers: TestProcess[];
  const killedAt = new Map<TestProcess, number>();

  beforeAll(async () => {
    // The repair sweep frees the place of a job whose worker is killed right after it ended.
    const env = { WORKER_LOCK: '1s', WORKER_CONCURRENCY: '5', REPAIR_EVERY: '1s' };
    fleet = await Fleet.start({ workers: 2, janitor: true, env });
    producers = [fleet.api, ...(await Promise.all([1, 2, 3].map(() => startProducer(fleet))))];
  });
  afterAll(() => fleet.stop());

  it(`${ROUNDS * TRIGGERS} triggers: at most one pending and one running job, and a later start for each trigger`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const watch = watchPending(fleet);
      const accepted: Accepted[] = [];
      const sending = producers.map((producer) => send(producer, TRIGGERS / PRODUCERS, accepted));
      await until(
        () => accepted.length > TRIGGERS * (0.2 + 0.4 * Math.random()),
        'some requests are accepted',
      );
      const [producer, worker] = [anyOf(producers), anyOf(fleet.workers)];
      for (const victim of [producer, worker]) {
        victim.kill('SIGKILL');
        killedAt.set(victim, Date.now());
      }
      await Promise.all(sending);
      await replace(producer, worker);

      await until(async () => (await readOwner(fleet)).counts.jobs === 0, 'no job is left', 30_000);
      expect(await watch.end()).toBe(1);
      expect(accepted.length).toBeGreaterThan(TRIGGERS / 2);
      await expectStarts(fleet, accepted);
    }
    expect(mostAtOnce(fleet.processes, killedAt)).toBe(1);
  }, 300_000);

  async function replace(producer: TestProcess, worker: TestProcess): Promise<void> {
    await Promise.all([producer.exited, worker.exited]);
    fleet.workers.splice(fleet.workers.indexOf(worker), 1);
    const added = fleet.addWorker();
    producers.splice(producers.indexOf(producer), 1, await startProducer(fleet));
    fleet.api = producers[0]!;
    await fleet.untilReady(added);
  }
});

async function startProducer(fleet: Fleet): Promise<TestProcess> {
  const producer = TestProcess.app('api', {
    REDIS_URL: fleet.storeUrl,
    MOORING_PREFIX: fleet.prefix,
    PORT: '0',
    LOG_FORMAT: 'json',
  });
  fleet.processes.push(producer);
  await fleet.untilReady(producer);
  return producer;
}

/** Sends `count` triggers, or until its producer is killed. */
async function send(producer: TestProcess, count: number, accepted: Accepted[]): Promise<void> {
  const body = JSON.stringify({
    kind: 'probe',
    owners: [OWNER],
    payload: { ms: 10 },
    dedup: { strategy: 'skip', key: 'build' },
  });
  let left = count;
  const ask = async (): Promise<void> => {
    while ((left -= 1) >= 0) {
      const asked = Date.now();
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${producer.url}/v1/jobs`, { method: 'POST', headers, body });
      const ticket = (await response.json()) as { id: string };
      expect([200, 201]).toContain(response.status);
      accepted.push({ id: ticket.id, asked });
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, ask));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed && producer.child.signalCode !== 'SIGKILL' && !producer.child.killed) throw failed.reason;
}

/** Polls how many jobs of the key have not begun; returns the maximum. */
function watchPending(fleet: Fleet): { end(): Promise<number> } {
  let isOver = false;
  let most = 0;
  const watching = (async () => {
    while (!isOver) {
      const owner = await readOwner(fleet).catch(() => undefined);
      most = Math.max(most, owner?.jobs.filter(({ hasBegun }) => !hasBegun).length ?? 0);
      await pause(LOOK_EVERY_MS);
    }
  })();
  return {
    end: async () => {
      isOver = true;
      await watching;
      return most;
    },
  };
}

/**
 * The job that a trigger was answered with had not begun at that time, so it began afterwards. If a killed worker did
 * not report its start, the timeline of the job shows that it ended later.
 */
async function expectStarts(fleet: Fleet, accepted: readonly Accepted[]): Promise<void> {
  const waiting = new Map<string, number>();
  for (const { id, asked } of accepted) waiting.set(id, Math.max(asked, waiting.get(id) ?? 0));
  for (const { event, jobId, time } of fleet.processes.flatMap((process) => process.facts())) {
    if (event === 'job.began' && Number(time) >= (waiting.get(String(jobId)) ?? Infinity))
      waiting.delete(String(jobId));
  }
  for (const [id, asked] of waiting) {
    const { timeline } = await fleet.untilState(id, 'completed');
    expect(Date.parse(timeline.at(-1)!.at)).toBeGreaterThanOrEqual(asked);
  }
  // Otherwise the test observed too few starts.
  expect(waiting.size).toBeLessThan(10);
}

/** How many jobs ran at once, by the log of the workers; a run of a killed worker ended with it. */
function mostAtOnce(processes: readonly TestProcess[], killedAt: ReadonlyMap<TestProcess, number>): number {
  const changes: { at: number; by: 1 | -1 }[] = [];
  for (const process of processes) {
    const open = new Set<unknown>();
    for (const { event, jobId, owner, time } of process.facts()) {
      if (owner !== OWNER) continue;
      const isEnd = event === 'job.completed' || event === 'job.failed' || event === 'job.lost';
      if (event === 'job.began') open.add(jobId);
      else if (!isEnd || !open.delete(jobId)) continue;
      changes.push({ at: Number(time), by: isEnd ? -1 : 1 });
    }
    for (const _ of open) changes.push({ at: killedAt.get(process) ?? Infinity, by: -1 });
  }
  // Within the same ms the end comes first, because the next job starts when one ends.
  changes.sort((a, b) => a.at - b.at || a.by - b.by);
  let now = 0;
  return Math.max(...changes.map(({ by }) => (now += by)));
}

async function readOwner(
  fleet: Fleet,
): Promise<{ counts: { jobs: number }; jobs: { id: string; hasBegun: boolean }[] }> {
  const { body } = await fleet.request('GET', `/v1/owners/${OWNER.replace(':', '/')}`);
  return body as never;
}

function anyOf<T>(items: readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)]!;
}
