import { Owners } from '#core';
import type { INestApplicationContext } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { KindApp } from '../../../../test/support/kind-app.js';
import { until } from '../../../../test/support/until.js';
import { defineKind, Enqueuer, Handler, Handles, JobMover, JobReader, type Run } from '../index.js';

const work = defineKind({ name: 'work', queue: 'work', payload: z.any() });

let order: string[];

@Handles(work)
class WorkHandler extends Handler<typeof work> {
  async handle(_payload: unknown, { id }: Run): Promise<void> {
    order.push(id);
  }
}

describe('a job that has not begun', () => {
  let app: KindApp;
  let context: INestApplicationContext;

  beforeEach(async () => {
    order = [];
    app = new KindApp();
    context = await app.start([work]);
  });

  afterEach(() => app.stop());

  async function enqueue(more: object = {}): Promise<string> {
    return (await context.get(Enqueuer).enqueue(work, {}, { owners: ['trip:1'], ...more })).id;
  }

  async function stateOf(id: string): Promise<string | undefined> {
    return (await context.get(JobReader).read(id))?.state;
  }

  async function runAll(count: number): Promise<void> {
    await app.startWorker([work], [WorkHandler], { worker: { concurrency: 1 } });
    await until(() => order.length === count, 'all ran');
  }

  it('waits at once if it is promoted, and is still a job of its owner', async () => {
    const [first, second] = [await enqueue({ delay: '1h' }), await enqueue({ delay: '1h' })];

    expect(await context.get(JobMover).promote(first, 'ops')).toBe(true);

    expect([await stateOf(first), await stateOf(second)]).toEqual(['waiting', 'delayed']);
    await expect(context.get(JobMover).promote(first)).rejects.toMatchObject({ code: 'NOT_DELAYED' });
    expect(await context.get(Owners).cancel('trip:1', { close: false })).toMatchObject({ removed: 2 });
    await expect(context.get(JobMover).promote(second)).rejects.toMatchObject({ state: 'removed' });
    expect(await context.get(JobMover).promote('work-00000000000000000000')).toBe(false);
    await app.untilNothingIsLeft();
  });

  it('runs in the order of its new priority, also if it was delayed meanwhile', async () => {
    const ids = [await enqueue(), await enqueue(), await enqueue({ delay: '1h' })];

    await context.get(JobMover).setPriority(ids[1]!, 50, 'ops');
    await context.get(JobMover).setPriority(ids[2]!, 1, 'ops');
    await context.get(JobMover).promote(ids[2]!, 'ops');

    await runAll(3);
    expect(order).toEqual([ids[2], ids[1], ids[0]]);
    await until(async () => (await stateOf(ids[0]!)) === 'completed', 'it is completed');
    await expect(context.get(JobMover).setPriority(ids[0]!, 1)).rejects.toMatchObject({
      code: 'NOT_WAITING',
    });
    expect(app.facts).toContainEqual(
      expect.objectContaining({ event: 'job.priority-set', by: 'ops', priority: 50 }),
    );
  });

  it('that waits for its slot stays in line if it is promoted', async () => {
    const slot = { key: 'gpu', limit: 1 };
    const ids = [await enqueue({ slot }), await enqueue({ slot }), await enqueue({ slot, delay: '1h' })];
    await context.get(JobMover).promote(ids[2]!);

    await runAll(3);

    expect(order).toEqual(ids);
    await app.untilNothingIsLeft();
  });
});
