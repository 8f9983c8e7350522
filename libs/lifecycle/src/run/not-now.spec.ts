import { Injectable } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { LifecycleApp } from '../../../../test/support/lifecycle-app.js';
import { until } from '../../../../test/support/until.js';
import { Enqueuer } from '../enqueue/enqueuer.js';
import { defineKind } from '../kinds/kind.js';
import { owner } from '../kinds/owner.js';
import { JobReader, type JobView } from '../read/job.reader.js';
import { Handler, Handles } from './handler.js';
import { NotNow } from './not-now.js';
import type { Run } from './run.js';
import { Waker } from './waker.js';

const knock = defineKind({ name: 'knock', queue: 'knock', payload: z.object({ door: z.string() }) });
const LONG_MS = 600_000;

describe('a job whose handler says not now', () => {
  let app: LifecycleApp;
  let open: Set<string>;
  let runs: { id: string; attempt: number }[];
  let isOver: () => Promise<boolean>;
  beforeEach(async () => {
    open = new Set();
    runs = [];
    isOver = () => Promise.resolve(false);
    @Injectable()
    @Handles(knock)
    class KnockHandler extends Handler<typeof knock> {
      handle({ door }: { door: string }, { id, attempt }: Run): Promise<string> {
        runs.push({ id, attempt });
        if (!open.has(door)) throw new NotNow(`the door ${door} is shut`, LONG_MS, () => isOver());
        return Promise.resolve('in');
      }
    }
    app = await LifecycleApp.start([knock], [KnockHandler], { concurrency: 1 });
  });
  afterEach(() => app.stop());

  const enqueue = async (door: string): Promise<string> =>
    (await app.context.get(Enqueuer).enqueue(knock, { door }, { owners: [owner('guest', door)] })).id;
  const read = async (id: string): Promise<JobView> => (await app.context.get(JobReader).read(id))!;
  const untilState = (id: string, state: JobView['state']): Promise<JobView> =>
    until(async () => {
      const job = await read(id);
      return job.state === state && job;
    }, `${id} is ${state}`);

  it('waits without a worker, and goes on at no attempt when it is woken', async () => {
    const id = await enqueue('a');
    await untilState(id, 'delayed');
    open.add('b');
    await untilState(await enqueue('b'), 'completed');

    open.add('a');
    expect(await app.context.get(Waker).wake(id)).toBe(true);
    const job = await untilState(id, 'completed');
    expect(runs.filter((run) => run.id === id)).toEqual([
      { id, attempt: 1 },
      { id, attempt: 1 },
    ]);
    expect(job.timeline).toContainEqual(
      expect.objectContaining({ event: 'retrying', why: 'the door a is shut' }),
    );
  });

  it('does not miss what came while it was on its way to wait', async () => {
    isOver = () => {
      open.add('a');
      return Promise.resolve(true);
    };
    expect((await untilState(await enqueue('a'), 'completed')).attempts).toBe(1);
  });

  it('waits all the same when nobody can say whether it need', async () => {
    isOver = () => Promise.reject(new Error('nobody can say'));
    const id = await enqueue('a');
    await until(() => app.facts.some(({ event }) => event === 'queue.error'), 'that is said');
    expect((await read(id)).state).toBe('delayed');
    open.add('a');
    await app.context.get(Waker).wake(id);
    await untilState(id, 'completed');
  });

  it('is left as it is by a wake that comes when it is over, and so is one that never was', async () => {
    open.add('a');
    const id = await enqueue('a');
    await untilState(id, 'completed');
    expect(await app.context.get(Waker).wake(id)).toBe(false);
    expect(await app.context.get(Waker).wake('knock-00000000000000000000')).toBe(false);
    expect(await app.context.get(Waker).wake('nonsense')).toBe(false);
  });
});
