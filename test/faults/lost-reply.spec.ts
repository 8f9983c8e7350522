import { Queue } from 'bullmq';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { Fleet, type Answer } from '../support/fleet.js';
import { TestProcess } from '../support/process.js';
import { Proxy } from '../support/proxy.js';
import { Stalls } from '../support/stalls.js';
import { until } from '../support/until.js';

const ANSWER_MS = 2_000;
const stalls = new Stalls();

/** Part of the command that adds a job and stores the answer to its key, as the api sends it: the owner. */
const ADD = /\r\nsite:[^\r]*\r\n/;

/** F7, F8: the store client sends an unanswered command again, and so does the caller. */
describe('a lost reply', () => {
  let proxy: Proxy;
  let fleet: Fleet;
  let cases = 0;
  let owner: string;
  let key: string;
  beforeAll(async () => {
    proxy = await Proxy.start(inject('storeUrl'));
    fleet = await Fleet.start({ storeUrl: proxy.url, workers: 0 });
  });
  afterAll(async () => {
    stalls.stop();
    await fleet.stop();
    await proxy.stop();
  });
  afterEach(() => until(async () => (await fetch(`${fleet.url}/readyz`)).ok, 'the api is back'));

  function ask(more: object = {}, url = fleet.url): Promise<Answer & { tookMs: number }> {
    return send(url, { kind: 'probe', owners: [owner], payload: {}, ...more }, key);
  }

  function newCase(): void {
    cases += 1;
    owner = `site:${cases}`;
    key = `case-${cases}`;
  }

  it.each(['drop', 'cut', 'hang'] as const)(
    '(%s) to an enqueue makes exactly one job, and the repeated request gets it',
    async (fault) => {
      newCase();
      const before = await countWaiting(fleet);
      const met = proxy.next(fault, ADD);
      const first = await ask();
      await met;
      proxy.cutHanging();

      expect(first.tookMs).toBeLessThan(ANSWER_MS);
      expect([201, 503]).toContain(first.status);
      const second = await until(async () => {
        const answer = await ask();
        return answer.status !== 503 && answer;
      }, 'the repeat is answered');
      expect(second).toMatchObject({ status: 201, body: { outcome: 'created' } });
      if (first.status === 201) expect(first.body).toEqual(second.body);
      expect((await ask()).body).toEqual(second.body);
      expect(await jobsOf(fleet, owner)).toEqual([second.body['id']]);
      expect(await countWaiting(fleet)).toBe(before + 1);
    },
    90_000,
  );

  it.each(['skip', 'replace', 'coalesce'] as const)(
    'to a trigger with %s leaves one pending job of its key',
    async (strategy) => {
      newCase();
      const dedup = { strategy };
      const first = await ask({ dedup });
      key += '-again';
      const met = proxy.next('drop', ADD);
      const second = await ask({ dedup });
      await met;

      expect({ status: second.status, body: second.body }).toMatchObject(
        strategy === 'replace'
          ? { status: 201, body: { outcome: 'replaced', replaced: first.body['id'] } }
          : { status: 200, body: { id: first.body['id'] } },
      );
      expect(await jobsOf(fleet, owner)).toEqual([second.body['id']]);
    },
  );

  it('to a batch makes each of its jobs once', async () => {
    newCase();
    const met = proxy.next('drop', ADD);
    const jobs = Array.from({ length: 200 }, () => ({ kind: 'probe', owners: [owner], payload: {} }));
    const { status, body } = await fleet.request('POST', '/v1/jobs/batch', { jobs });
    await met;

    const results = body['results'] as { status: number; id?: string }[];
    expect(status).toBe(200);
    expect(results.filter((result) => result.status !== 201 && result.status !== 503)).toEqual([]);
    const accepted = results.flatMap(({ id }) => id ?? []);
    const held = await jobsOf(fleet, owner);
    expect(accepted.filter((id) => !held.includes(id))).toEqual([]);
    expect(held.length).toBeLessThanOrEqual(jobs.length);
  });

  it('to a producer that is killed: the repeat to another producer gets the job, which has ended meanwhile', async () => {
    newCase();
    const victim = await startApi(fleet, proxy);
    const met = proxy.next('hang', ADD);
    const dedup = { strategy: 'skip' };
    const lost = ask({ dedup }, victim.url);
    await met;
    expect((await lost).status).toBe(503);
    victim.kill('SIGKILL');
    await victim.exited;
    const [id] = await jobsOf(fleet, owner);
    await fleet.untilReady(fleet.addWorker());
    await fleet.untilState(id!, 'completed');

    expect(await ask({ dedup })).toMatchObject({ status: 201, body: { outcome: 'created', id } });
    expect(await jobsOf(fleet, owner)).toEqual([]);
    // Nothing of the job blocks the next trigger.
    key += '-next';
    const next = await ask({ dedup });
    expect(next).toMatchObject({ status: 201, body: { outcome: 'created' } });
    await fleet.untilState(String(next.body['id']), 'completed');
  });

  it('to a producer that is killed before its command arrives does not block the next trigger', async () => {
    newCase();
    const victim = await startApi(fleet, proxy);
    const met = proxy.next('cut', ADD);
    const dedup = { strategy: 'skip' };
    const lost = ask({ dedup }, victim.url).catch(() => undefined);
    await met;
    victim.kill('SIGKILL');
    await victim.exited;
    await lost;
    expect(await jobsOf(fleet, owner)).toEqual([]);

    const next = await ask({ dedup });
    expect(next).toMatchObject({ status: 201, body: { outcome: 'created' } });
    await fleet.untilState(String(next.body['id']), 'completed');
    await until(async () => (await jobsOf(fleet, owner)).length === 0, 'the owner has no job left');
  });
});

async function send(url: string, body: object, key: string): Promise<Answer & { tookMs: number }> {
  const began = Date.now();
  const response = await fetch(`${url}/v1/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(body),
  });
  const { status, headers } = response;
  return { status, headers, body: (await response.json()) as Answer['body'], tookMs: stalls.since(began) };
}

async function startApi(fleet: Fleet, proxy: Proxy): Promise<TestProcess & { url: string }> {
  const api = TestProcess.app('api', { REDIS_URL: proxy.url, PORT: '0', MOORING_PREFIX: fleet.prefix });
  fleet.processes.push(api);
  await fleet.untilReady(api);
  return api as TestProcess & { url: string };
}

async function jobsOf(fleet: Fleet, owner: string): Promise<string[]> {
  const { body } = await fleet.request('GET', `/v1/owners/${owner.replace(':', '/')}`);
  const jobs = (body['jobs'] as { id: string }[]).map(({ id }) => id);
  expect(body['counts']).toMatchObject({ jobs: jobs.length });
  return jobs;
}

/** As the queue counts them, not an index. */
async function countWaiting(fleet: Fleet): Promise<number> {
  const queue = new Queue('probe', {
    connection: { url: inject('storeUrl') },
    prefix: `{${fleet.prefix}}`,
  });
  try {
    return await queue.count();
  } finally {
    await queue.close();
  }
}
