import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OperationView } from '#nestjs';
import { apiKey } from '../support/api-keys.js';
import { Fleet, type Answer } from '../support/fleet.js';
import { Mooring } from '../support/mooring.js';
import { until } from '../support/until.js';

const FAILS = { payload: { failTimes: 100 } };

describe('repair, as an operator does it', () => {
  let fleet: Fleet;
  let tool: Mooring;
  beforeAll(async () => {
    const keys = [apiKey('all', 'enqueue+read+cancel+admin'), apiKey('ops', 'read+admin')];
    fleet = await Fleet.start({ janitor: true, env: { API_KEYS: keys.join(','), PROBE: 'on' } });
    tool = new Mooring({ MOORING_URL: fleet.url, MOORING_KEY: 'all' });
  });
  afterAll(() => fleet.stop());

  function call(method: string, path: string, body?: unknown, key = 'all'): Promise<Answer> {
    return fleet.request(method, path, body, { authorization: `Bearer ${key}` });
  }

  async function enqueue(owner: string, more: object): Promise<string> {
    const job = { kind: 'probe', owners: [owner], payload: {}, ...more };
    const { status, body } = await call('POST', '/v1/jobs', job);
    expect(status).toBe(201);
    return body['id'] as string;
  }

  function untilState(id: string, state: string): Promise<Answer['body']> {
    return until(async () => {
      const { body } = await call('GET', `/v1/jobs/${id}`);
      return body['state'] === state && body;
    }, `${id} is ${state}`);
  }

  async function operate(order: object): Promise<OperationView> {
    const { status, body, headers } = await call('POST', '/v1/operations', order);
    expect(status).toBe(202);
    const path = `/v1/operations/${body['operationId'] as string}`;
    expect(headers.get('location')).toBe(path);
    return until(async () => {
      const seen = (await call('GET', path)).body as unknown as OperationView;
      return seen.state === 'done' && seen;
    }, 'the operation is done');
  }

  it('retries a failed job, with its attempts counted from the start', async () => {
    const id = await enqueue('trip:1', { payload: { failTimes: 3 } });
    await untilState(id, 'failed');

    const answer = await call('POST', `/v1/jobs/${id}/retry`, {});
    expect(answer).toMatchObject({ status: 200, body: { id, kind: 'probe', owners: ['trip:1'] } });
    expect(await untilState(id, 'completed')).toMatchObject({ attempts: 4, error: null });
    const again = await enqueue('trip:1', FAILS);
    await untilState(again, 'failed');
    expect(await call('POST', `/v1/jobs/${again}/retry`, { reset: true })).toMatchObject({ status: 200 });
    await until(async () => {
      const { timeline } = (await call('GET', `/v1/jobs/${again}`)).body as { timeline: object[] };
      return timeline.filter((each) => (each as { event: string }).event === 'failed').length === 6;
    }, 'it has failed six times');
    const told = fleet.api.facts().filter(({ event }) => event === 'job.retried');
    expect(told).toMatchObject([
      { jobId: id, by: 'all', reset: false },
      { jobId: again, by: 'all', reset: true },
    ]);
  });

  it('refuses to retry what it cannot', async () => {
    const id = await enqueue('trip:2', FAILS);
    await untilState(id, 'failed');
    await call('POST', '/v1/owners/trip/2/cancel', { reason: 'over' });
    const waiting = await enqueue('trip:3', { delay: '1h' });

    const answers = await Promise.all(
      [id, waiting, 'probe-00000000000000000000', 'nonesuch'].map((each) =>
        call('POST', `/v1/jobs/${each}/retry`),
      ),
    );

    expect(answers.map(({ status, body }) => [status, body['code']])).toEqual([
      [409, 'OWNER_CLOSED'],
      [409, 'NOT_FAILED'],
      [404, 'NOT_FOUND'],
      [404, 'NOT_FOUND'],
    ]);
    expect(await untilState(id, 'failed')).toMatchObject({ error: 'Told to fail attempt 3.' });
    expect(await call('POST', `/v1/jobs/${id}/retry`, { rest: true })).toMatchObject({
      status: 400,
      body: { code: 'INVALID' },
    });
    await call('DELETE', `/v1/jobs/${waiting}`);
  });

  it('cancels many jobs, and a key without that scope cannot', async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, () => enqueue('site:1', { delay: '1h' })));
    const order = { action: 'cancel', filter: { owner: 'site:1' } };

    expect(await call('POST', '/v1/operations', order, 'ops')).toMatchObject({
      status: 403,
      body: { code: 'FORBIDDEN' },
    });
    expect(await operate({ ...order, dryRun: true })).toMatchObject({ matched: 5, done: 0, dryRun: true });
    expect(await operate(order)).toMatchObject({ matched: 5, done: 5, by: 'all' });
    await untilState(ids[4]!, 'removed');
    for (const body of [
      { action: 'burn', filter: {} },
      { action: 'retry', filter: { colour: 'red' } },
      { action: 'retry', filter: { state: 'running' } },
      { action: 'retry' },
    ])
      expect(await call('POST', '/v1/operations', body)).toMatchObject({
        status: 400,
        body: { code: 'INVALID' },
      });
    expect(await call('GET', '/v1/operations/nonesuch')).toMatchObject({ status: 404 });
    expect(await call('DELETE', '/v1/operations/nonesuch')).toMatchObject({ status: 404 });
  });

  it('has commands for all of it', async () => {
    const ids = await Promise.all([1, 2].map(() => enqueue('bus:1', FAILS)));
    for (const id of ids) await untilState(id, 'failed');

    const dry = await tool.run(['operations', 'start', 'retry', '--owner', 'bus:1', '--dry-run', '--watch']);
    expect(dry).toMatchObject({ code: 0 });
    expect(dry.stdout).toMatch(/Dry run: nothing was changed\.\n(.*\n)*matched +2\n(.*\n)*probe-/);
    const started = await tool.run(['operations', 'start', 'retry', '--owner=bus:1', '--watch', '--json']);
    expect(started.code).toBe(0);
    const operation = JSON.parse(started.stdout) as OperationView;
    expect(operation).toMatchObject({ state: 'done', done: 2, filter: { owner: 'bus:1' } });
    const { operationId } = operation;
    const shown = await tool.run(['operations', 'show', operationId, '--json']);
    expect(JSON.parse(shown.stdout)).toMatchObject({ operationId, done: 2 });
    const listed = await tool.run(['operations', 'list', '--json']);
    expect((JSON.parse(listed.stdout) as { operations: OperationView[] }).operations[0]).toMatchObject({
      operationId,
    });
    expect((await tool.run(['operations', 'list'])).stdout).toContain(operationId);
    expect((await tool.run(['operations', 'stop', operationId])).stdout).toContain('(retry): done.');

    for (const id of ids) await untilState(id, 'failed');
    const retried = await tool.run(['retry', ids[0]!, '--reset', '--json']);
    expect(JSON.parse(retried.stdout)).toMatchObject({ id: ids[0] });
    expect(await tool.run(['retry', 'nonesuch'])).toMatchObject({ code: 1 });
    expect(await tool.run(['operations', 'begin'])).toMatchObject({ code: 2 });
    expect(await tool.run(['operations', 'start', 'retri'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean retry?'),
    });
  });
});
