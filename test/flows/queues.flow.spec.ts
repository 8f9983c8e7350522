import type { QueueView } from '#nestjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { until } from '../support/until.js';

describe('the queues, as an operator sees them', () => {
  let fleet: Fleet;
  beforeEach(async () => {
    fleet = await Fleet.start({ workers: 0 });
  });
  afterEach(() => fleet.stop());

  it('are counted by state; a queue without a waiting job has no age', async () => {
    await fleet.probe({}, { delay: '1h' });
    expect(await probeQueue()).toEqual({
      queue: 'probe',
      counts: { waiting: 0, delayed: 1, active: 0, completed: 0, failed: 0, 'waiting-children': 0 },
      oldestWaitingMs: null,
      paused: false,
    });
  });

  it('are as old as the oldest waiting job, whatever its priority', async () => {
    await fleet.probe({}, { priority: 200 });
    await until(async () => (await probeQueue()).oldestWaitingMs! >= 300, 'it has waited');
    await fleet.probe();
    await fleet.probe({}, { priority: 1 });
    const { counts, oldestWaitingMs } = await probeQueue();
    expect(counts).toMatchObject({ waiting: 3 });
    expect(oldestWaitingMs).toBeGreaterThanOrEqual(300);
  });

  it('start nothing while they are paused, and continue when they are resumed', async () => {
    await fleet.untilReady(fleet.addWorker());
    const before = await fleet.probe();
    await fleet.untilState(before, 'completed');
    expect(await fleet.request('POST', '/v1/admin/queues/probe/pause')).toMatchObject({
      status: 200,
      body: { queue: 'probe', paused: true },
    });
    const id = await fleet.probe();
    const other = await fleet.probe({}, { owners: ['trip:43'] });
    expect(await probeQueue()).toMatchObject({ paused: true, counts: { waiting: 2 } });
    // Cancelling needs no worker.
    const cancelled = await fleet.request('POST', '/v1/owners/trip/43/cancel', { reason: 'over' });
    expect(cancelled.body).toMatchObject({ removed: 1, done: true });
    expect(await fleet.job(id)).toMatchObject({ state: 'waiting' });
    expect(await fleet.request('POST', '/v1/admin/queues/probe/resume')).toMatchObject({
      status: 200,
      body: { queue: 'probe', paused: false },
    });
    await fleet.untilState(id, 'completed');
    expect(await fleet.job(other)).toMatchObject({ state: 'removed' });
  });

  it.each(['pause', 'resume'])('are found by name: %s', async (act) => {
    expect(await fleet.request('POST', `/v1/admin/queues/nothing/${act}`)).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND' },
    });
  });

  async function probeQueue(): Promise<QueueView> {
    const { status, body } = await fleet.request('GET', '/v1/admin/queues');
    expect(status).toBe(200);
    return (body as unknown as { queues: QueueView[] }).queues.find(({ queue }) => queue === 'probe')!;
  }
});
