import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fleet, type Answer } from '../support/fleet.js';
import { TestStore } from '../support/store.js';
import { TestProcess } from '../support/process.js';
import { Stalls } from '../support/stalls.js';
import { until } from '../support/until.js';

const ANSWER_MS = 2_000;

/** F4, F5, F6: the store is absent, frozen or killed. Every answer arrives in time, and afterwards jobs run again. */
describe('while the store is unavailable', () => {
  let store: TestStore;
  let fleet: Fleet;
  beforeEach(async () => {
    store = await TestStore.start();
    fleet = await Fleet.start({ storeUrl: store.url, workers: 1, janitor: true });
  });
  afterEach(async () => {
    await fleet.stop();
    await store.stop();
  });

  it('because it is frozen for 5 s: every answer comes within 2 s, and then jobs run again', async () => {
    store.freeze();
    const answers = await askFor(fleet, 5_000);
    store.thaw();

    expectRefusals(answers);
    expect((await fleet.untilState(await untilAccepted(fleet), 'completed')).attempts).toBe(1);
    expect(fleet.processes.filter(({ hasExited }) => hasExited)).toEqual([]);
  });

  it('because it is frozen: two batches of 1000 are answered within 2 s, with a reason for each job', async () => {
    const jobs = Array.from({ length: 1_000 }, () => ({ kind: 'probe', owners: ['trip:42'], payload: {} }));
    const stalls = new Stalls();
    store.freeze();
    const began = Date.now();
    const answers = await Promise.all(
      [1, 2].map(async () => {
        const { body } = await fleet.request('POST', '/v1/jobs/batch', { jobs });
        return {
          tookMs: stalls.since(began),
          results: body['results'] as { status: number; code: string }[],
        };
      }),
    ).finally(() => stalls.stop());
    store.thaw();

    for (const { tookMs, results } of answers) {
      expect(tookMs).toBeLessThan(ANSWER_MS);
      const others = results.filter(({ status, code }) => status !== 503 || code !== 'STORE_UNAVAILABLE');
      expect([results.length, others]).toEqual([1_000, []]);
    }
    await untilAccepted(fleet);
  });

  it('because it is killed and restarted: every answer comes within 2 s, and then jobs run again', async () => {
    await store.kill();
    const answers = await askFor(fleet, 3_000);
    expect((await fetch(`${fleet.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${fleet.url}/livez`)).status).toBe(200);
    await store.restart();

    expectRefusals(answers);
    expect((await fleet.untilState(await untilAccepted(fleet), 'completed')).attempts).toBe(1);
    expect(fleet.processes.filter(({ hasExited }) => hasExited)).toEqual([]);
  });

  it('from the start: the api answers, and works when the store appears', async () => {
    await store.kill();
    const late = TestProcess.app('api', { REDIS_URL: store.url, PORT: '0', MOORING_PREFIX: fleet.prefix });
    await until(() => late.url, 'it listens');
    expect((await fetch(`${late.url}/v1/jobs/probe-12345678901234567890`)).status).toBe(503);
    await store.restart();
    await until(async () => (await fetch(`${late.url}/readyz`)).ok, 'it is ready');
    expect((await fetch(`${late.url}/v1/jobs/probe-12345678901234567890`)).status).toBe(404);
    late.kill('SIGTERM');
    expect(await late.exited).toEqual({ code: 0, signal: null });
  });

  it.each([
    ['at once', () => true],
    ['once they have noticed', (process: TestProcess) => hasLogged(process, 'store.unreachable')],
  ])('processes shut down in time: %s', async (_when, isTime) => {
    await store.kill();
    await until(() => fleet.processes.every(isTime), 'it is time');
    for (const process of fleet.processes) process.kill('SIGTERM');
    const exits = await Promise.all(fleet.processes.map(({ exited }) => exited));
    expect(exits).toEqual(fleet.processes.map(() => ({ code: 0, signal: null })));
    await store.restart();
  });
});

function hasLogged(process: TestProcess, event: string): boolean {
  return process.facts().some((fact) => fact['event'] === event);
}

/** Reads and enqueues in a loop; returns each answer with the time it took. */
async function askFor(fleet: Fleet, ms: number): Promise<(Answer & { tookMs: number })[]> {
  const end = Date.now() + ms;
  const answers: (Answer & { tookMs: number })[] = [];
  const stalls = new Stalls();
  const ask = async (method: string, path: string, body?: unknown): Promise<void> => {
    while (Date.now() < end) {
      const began = Date.now();
      const answer = await fleet.request(method, path, body);
      answers.push({ ...answer, tookMs: stalls.since(began) });
      if (Date.now() - began < 50) await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  await Promise.all([
    ask('GET', '/v1/jobs/probe-12345678901234567890'),
    ask('POST', '/v1/jobs', { kind: 'probe', owners: ['trip:42'], payload: {} }),
  ]).finally(() => stalls.stop());
  return answers;
}

function expectRefusals(answers: (Answer & { tookMs: number })[]): void {
  expect(answers.length).toBeGreaterThan(3);
  for (const { status, body, headers, tookMs } of answers) {
    expect({ status, code: body['code'], inTime: tookMs < ANSWER_MS, tookMs }).toMatchObject({
      status: 503,
      code: 'STORE_UNAVAILABLE',
      inTime: true,
    });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
}

/** The id of the first job that the api accepts again. */
async function untilAccepted(fleet: Fleet): Promise<string> {
  return until(async () => {
    const { status, body } = await fleet.request('POST', '/v1/jobs', {
      kind: 'probe',
      owners: ['trip:42'],
      payload: {},
    });
    return status === 201 && String(body['id']);
  }, 'the api accepts a job');
}
