import type { OperationView } from '#nestjs';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { root } from '../support/process.js';
import { until } from '../support/until.js';

const JOBS = 300;
const FAIL_POINT = pathToFileURL(`${root}test/support/fail-point.mjs`).href;

describe('an operation over failed jobs', () => {
  let fleet: Fleet | undefined;
  afterEach(() => fleet?.stop());

  it('ends after kill -9 of the api that took it and of a janitor in the middle of a page', async () => {
    fleet = await Fleet.start({ workers: 1, env: { SWEEP_LOCK: '1s', WORKER_CONCURRENCY: '20' } });
    const { request } = { request: fleet.request.bind(fleet) };
    const job = { kind: 'probe', owners: ['trip:42'], payload: { failTimes: 100 } };
    const jobs = Array.from({ length: JOBS }, () => job);
    const { body } = await request('POST', '/v1/jobs/batch', { jobs });
    const ids = (body['results'] as { id: string }[]).map(({ id }) => id);
    await untilFailed(JOBS);

    const started = await request('POST', '/v1/operations', {
      action: 'retry',
      filter: { kind: 'probe', state: 'failed' },
    });
    expect(started.status).toBe(202);
    fleet.api.kill('SIGKILL');
    const dying = fleet.addJanitor({
      NODE_OPTIONS: `--import=${FAIL_POINT}`,
      FAIL_POINT: 'after:retryOnce',
    });
    expect(await dying.exited).toMatchObject({ signal: 'SIGKILL' });
    fleet.api = fleet.addApi();
    await fleet.untilReady(fleet.api);
    await fleet.untilReady(fleet.addJanitor());

    const path = `/v1/operations/${(started.body as { operationId: string }).operationId}`;
    const done = await until(async () => {
      const seen = (await request('GET', path)).body as unknown as OperationView;
      return seen.state === 'done' && seen;
    }, 'the operation is done');
    expect(done).toMatchObject({ matched: JOBS, done: JOBS, refused: 0, failed: 0, by: 'api' });
    await untilFailed(JOBS);
    const attempts = new Set<number>();
    for (const id of ids) {
      await fleet.untilState(id, 'failed');
      attempts.add((await fleet.job(id)).attempts);
    }
    expect([...attempts]).toEqual([4]);
  });

  async function untilFailed(count: number): Promise<void> {
    await until(
      async () => {
        const { body } = await fleet!.request('GET', '/v1/admin/queues');
        const { counts } = (
          body as unknown as { queues: { queue: string; counts: Record<string, number> }[] }
        ).queues.find(({ queue }) => queue === 'probe')!;
        return counts['failed'] === count;
      },
      `${count} have failed`,
      60_000,
    );
  }
});
