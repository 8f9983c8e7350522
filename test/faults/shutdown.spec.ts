import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom } from '../support/random.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { isNight } from '../support/night.js';
import { addOddWorker } from '../support/odd-worker.js';
import type { TestProcess } from '../support/process.js';
import { until } from '../support/until.js';

/** Part of the test's title, so that a failure can be repeated: SEED=… npm test -- test/faults/shutdown */
const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const random = seededRandom(SEED);
const ROUNDS = isNight ? 20 : 3;
const JOBS = 200;
const TIMEOUT_MS = 3_000;

/**
 * F11, F12, I45: a worker is told to end at any moment. No job is lost, failed or run twice, and no attempt is counted.
 */
describe('SIGTERM to a worker', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await Fleet.start({
      workers: 2,
      env: { SHUTDOWN_TIMEOUT: `${TIMEOUT_MS}ms`, WORKER_CONCURRENCY: '25' },
    });
  });
  afterAll(() => fleet.stop());

  it(
    `loses no job, fails none, repeats none and counts no attempt, in ${ROUNDS} rounds of ${JOBS} jobs at random times (seed ${SEED})`,
    async () => {
      for (let round = 0; round < ROUNDS; round += 1) await expectNothingLostIn(fleet);
    },
    10 * 60_000,
  );

  it('ends a worker in time if its handler ignores its signal', async () => {
    const id = await fleet.probe({ ms: 3_600_000, ignoreAbort: true });
    await fleet.untilState(id, 'running');
    const holder = await until(
      () => fleet.workers.find((worker) => worker.facts().some(began(id))),
      'a worker has it',
    );

    holder.kill('SIGTERM');
    await expectEndInTime(holder);

    const other = fleet.workers.find((worker) => !worker.hasExited)!;
    // The job was handed back, not found again when its lock expired.
    expect(holder.facts()).toContainEqual(expect.objectContaining({ event: 'job.handed-back', jobId: id }));
    await until(() => other.facts().some(began(id)), 'another worker has it', 15_000);
    expect((await fleet.job(id)).attempts).toBe(0);
  });

  it('hands a job back at once if the clock of the worker is an hour ahead', async () => {
    const right = fleet.workers.splice(0);
    for (const worker of right) worker.kill('SIGTERM');
    await Promise.all(right.map(({ exited }) => exited));
    const env = { CLOCK_SHIFT_MS: '3600000', SHUTDOWN_TIMEOUT: `${TIMEOUT_MS}ms` };
    const ahead = await addOddWorker(fleet, 'clock-shift', env);
    const id = await fleet.probe({ ms: 60_000 });
    await until(() => ahead.facts().some(began(id)), 'it has the job');
    ahead.kill('SIGTERM');
    expect(await ahead.exited).toEqual({ code: 0, signal: null });
    fleet.workers.splice(0);

    const other = fleet.addWorker();
    await fleet.untilReady(other);
    await until(() => other.facts().some(began(id)), 'another worker has it', 5_000);
    await fleet.request('DELETE', `/v1/jobs/${id}`);
    await fleet.untilState(id, 'cancelled');
  }, 60_000);

  it('when repeated does not hasten the end', async () => {
    const worker = fleet.addWorker();
    await fleet.untilReady(worker);
    const ids = await Promise.all(Array.from({ length: 60 }, () => fleet.probe({ ms: 800 })));
    await until(() => worker.facts().some(({ event }) => event === 'job.began'), 'it runs a job');

    worker.kill('SIGTERM');
    worker.kill('SIGTERM');
    worker.kill('SIGINT');
    expect(await worker.exited).toEqual({ code: 0, signal: null });
    expect(worker.facts().filter(({ event }) => event === 'shutdown.began')).toHaveLength(1);
    for (const id of ids) expect((await fleet.untilState(id, 'completed')).attempts).toBe(1);
  });
});

/** One worker ends somewhere in the middle of 200 jobs, some of which run longer than the shutdown may take. */
async function expectNothingLostIn(fleet: Fleet): Promise<void> {
  const ids: string[] = [];
  // A few at a time: this test does not measure how many callers the api can serve at once.
  while (ids.length < JOBS) {
    const some = Array.from({ length: 25 }, (_, i) => {
      return fleet.probe({ ms: (ids.length + i) % 40 === 0 ? 2_000 : 20 + Math.floor(random() * 300) });
    });
    ids.push(...(await Promise.all(some)));
  }
  await pause(random() * 1_000);
  const [victim] = fleet.workers.splice(0, 1);
  victim!.kill('SIGTERM');
  const replacement = fleet.addWorker();

  await expectEndInTime(victim!);
  await fleet.untilReady(replacement);

  const jobs = await Promise.all(ids.map((id) => fleet.untilState(id, 'completed', 30_000)));
  expect(jobs.filter(({ attempts, result }) => attempts !== 1 || !isFirstAttempt(result))).toEqual([]);
  expect(timesRunToTheEnd(fleet, new Set(ids))).toEqual(new Map(ids.map((id) => [id, 1])));
}

/** By the worker's own clock, because the machine decides when the signal is handled. */
async function expectEndInTime(worker: TestProcess): Promise<void> {
  expect(await worker.exited).toEqual({ code: 0, signal: null });
  const done = worker.facts().find(({ event }) => event === 'shutdown.done');
  expect(done?.['tookMs']).toBeLessThan(TIMEOUT_MS);
}

function timesRunToTheEnd(fleet: Fleet, ids: ReadonlySet<string>): Map<string, number> {
  const times = new Map([...ids].map((id) => [id, 0]));
  for (const { msg, jobId } of fleet.processes.flatMap((process) => process.facts())) {
    if (msg === 'Ran to its end.' && ids.has(String(jobId)))
      times.set(String(jobId), times.get(String(jobId))! + 1);
  }
  return times;
}

function isFirstAttempt(result: unknown): boolean {
  return (result as { attempt: number }).attempt === 1;
}

function began(id: string): (fact: Record<string, unknown>) => boolean {
  return ({ event, jobId }) => event === 'job.began' && jobId === id;
}
