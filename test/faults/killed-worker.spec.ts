import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { until } from '../support/until.js';

const LOCK_MS = 2_000;
/** The lock is checked every fifth of its length; a job counts as stalled at the second check. */
const CHECKS_MS = (2 * LOCK_MS) / 5;
/** How long this machine may take to react; this bounds the result and measures nothing. */
const SLACK_MS = 5_000;

describe('kill -9 of a worker', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await Fleet.start({ workers: 2, env: { WORKER_LOCK: `${LOCK_MS}ms`, WORKER_CONCURRENCY: '20' } });
  });
  afterAll(() => fleet.stop());

  it('makes another worker run its jobs again within the lock time, without counting an attempt', async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, () => fleet.probe({ ms: 6_000 })));
    const [victim, other] = fleet.workers;
    const taken = await until(() => {
      const mine = runningIn(victim!.facts());
      return runningIn(other!.facts()).length + mine.length === ids.length && mine.length > 0 && mine;
    }, 'both workers run');

    const killed = Date.now();
    victim!.kill('SIGKILL');
    expect(await victim!.exited).toEqual({ code: null, signal: 'SIGKILL' });

    await until(() => taken.every((id) => runningIn(other!.facts()).includes(id)), 'the other runs them all');
    const begins = other!
      .facts()
      .filter(({ event, jobId }) => event === 'job.began' && taken.includes(String(jobId)));
    const latest = Math.max(...begins.map(({ time }) => Number(time)));
    expect(latest - killed).toBeLessThan(LOCK_MS + CHECKS_MS + SLACK_MS);
    for (const id of ids) {
      expect(await fleet.untilState(id, 'completed')).toMatchObject({ attempts: 1, result: { attempt: 1 } });
    }
  });

  it('fails a job that kills its worker each time, after a limited number of runs', async () => {
    const id = await fleet.probe({ exit: true });
    for (let deaths = 0; deaths < 4; deaths += 1) {
      const alive = await until(() => fleet.workers.find((worker) => !worker.hasExited), 'a worker lives');
      await alive.exited;
      fleet.addWorker();
    }
    expect(await fleet.untilState(id, 'failed', 20_000)).toMatchObject({
      state: 'failed',
      error: 'job stalled more than allowable limit',
    });
  });
});

function runningIn(facts: readonly Record<string, unknown>[]): string[] {
  return facts.filter(({ event }) => event === 'job.began').map(({ jobId }) => String(jobId));
}
