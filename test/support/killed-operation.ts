import type { JobList, OperationView } from '#nestjs';
import { expect } from 'vitest';
import type { Fleet } from './fleet.js';
import { until } from './until.js';

const JOBS_A_CALL = 1_000;
const LIMIT_MS = 15 * 60_000;

export interface FailedJobs {
  readonly fleet: Fleet;
  readonly count: number;
  /** How many of them have an owner that is closed. Each of these has its own. */
  readonly closed: number;
}

/** Adds jobs, waits until all have failed, and closes the owners of some. */
export async function addFailed({ fleet, count, closed }: FailedJobs): Promise<void> {
  const jobs = Array.from({ length: count }, (_, i) => ({
    kind: 'probe',
    owners: [i < closed ? `closed:${i}` : 'trip:42'],
    payload: { failTimes: 100 },
  }));
  for (let from = 0; from < count; from += JOBS_A_CALL) {
    const body = { jobs: jobs.slice(from, from + JOBS_A_CALL) };
    expect(await fleet.request('POST', '/v1/jobs/batch', body)).toMatchObject({ status: 200 });
  }
  await untilFailed(fleet, count);
  for (let i = 0; i < closed; i += 1)
    expect(await fleet.request('POST', `/v1/owners/closed/${i}/cancel`, {})).toMatchObject({ status: 200 });
}

export async function startRetry({ fleet }: FailedJobs): Promise<string> {
  const order = { action: 'retry', filter: { kind: 'probe', state: 'failed' } };
  const { status, body } = await fleet.request('POST', '/v1/operations', order);
  expect(status).toBe(202);
  return body['operationId'] as string;
}

export async function readOperation(fleet: Fleet, id: string): Promise<OperationView> {
  return (await fleet.request('GET', `/v1/operations/${id}`)).body as unknown as OperationView;
}

/** Each job ran exactly once more, and those of closed owners were refused and are listed. */
export async function expectRetried(
  { fleet, count, closed }: FailedJobs,
  operationId: string,
): Promise<void> {
  const done = await until(
    async () => {
      const seen = await readOperation(fleet, operationId);
      return seen.state === 'done' && seen;
    },
    'the operation is done',
    LIMIT_MS,
  );
  const counts = { matched: count, done: count - closed, refused: closed, failed: 0, skipped: 0 };
  expect(done).toMatchObject({ ...counts, by: 'api' });
  expect(done.problems.map(({ outcome, code }) => [outcome, code])).toEqual(
    Array.from({ length: closed }, () => ['refused', 'OWNER_CLOSED']),
  );
  await untilFailed(fleet, count);
  const refused = new Set(done.problems.map(({ id }) => id));
  const failed = await listFailed(fleet);
  expect(failed).toHaveLength(count);
  const wrong = failed.filter(({ id, attempts }) => attempts !== (refused.has(id) ? 3 : 4));
  expect(wrong).toEqual([]);
}

async function listFailed(fleet: Fleet): Promise<JobList['jobs']> {
  const jobs = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const from: string = cursor === undefined ? '' : `&cursor=${cursor}`;
    const { body } = await fleet.request('GET', `/v1/jobs?state=failed&limit=1000${from}`);
    const page = body as unknown as JobList;
    jobs.push(...page.jobs);
    cursor = page.cursor;
  }
  return jobs;
}

async function untilFailed(fleet: Fleet, count: number): Promise<void> {
  await until(
    async () => {
      const { body } = await fleet.request('GET', '/v1/admin/queues');
      const { queues } = body as { queues: { queue: string; counts: Record<string, number> }[] };
      return queues.find(({ queue }) => queue === 'probe')!.counts['failed'] === count;
    },
    `${count} have failed`,
    LIMIT_MS,
  );
}
