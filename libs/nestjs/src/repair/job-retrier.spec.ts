import { Owners } from '#core';
import type { INestApplicationContext } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { KindApp } from '../../../../test/support/kind-app.js';
import { until } from '../../../../test/support/until.js';
import { defineKind, Enqueuer, Handler, Handles, JobReader, JobRetrier, type Run } from '../index.js';

const work = defineKind({ name: 'work', queue: 'work', payload: z.any() });

const runs: { readonly id: string; readonly attempt: number }[] = [];
let fails = true;

@Handles(work)
class WorkHandler extends Handler<typeof work> {
  async handle(_payload: unknown, { id, attempt }: Run): Promise<string> {
    runs.push({ id, attempt });
    if (fails) throw new Error('too hot');
    return 'well done';
  }
}

describe('the retry of a job', () => {
  let app: KindApp;
  let context: INestApplicationContext;

  beforeEach(async () => {
    runs.length = 0;
    fails = true;
    app = new KindApp();
    context = await app.startWorker([work], [WorkHandler]);
  });

  afterEach(() => app.stop());

  async function addFailed(owners = ['trip:1']): Promise<string> {
    const { id } = await context.get(Enqueuer).enqueue(work, {}, { owners });
    await untilState(id, 'failed');
    return id;
  }

  function untilState(id: string, state: string): Promise<unknown> {
    return until(async () => (await read(id))?.state === state, `${id} is ${state}`);
  }

  function read(id: string): ReturnType<JobReader['read']> {
    return context.get(JobReader).read(id);
  }

  it('lets it wait again and run, and keeps its failure in its timeline', async () => {
    const id = await addFailed();
    fails = false;

    expect(await context.get(JobRetrier).retry(id, { by: 'ops' })).toBe(true);

    await untilState(id, 'completed');
    const { timeline, error, result } = (await read(id))!;
    expect({ error, result }).toEqual({ error: null, result: 'well done' });
    expect(timeline.map(({ event, attempt, why }) => [event, attempt, why])).toEqual([
      ['accepted', undefined, undefined],
      ['began', 1, undefined],
      ['failed', 1, 'too hot'],
      ['retrying', 1, 'retried by ops'],
      ['began', 2, undefined],
      ['completed', undefined, undefined],
    ]);
    expect(app.facts).toContainEqual(
      expect.objectContaining({ event: 'job.retried', jobId: id, by: 'ops', reset: false }),
    );
    await app.untilNothingIsLeft();
  });

  it('counts its attempts from the start if asked to', async () => {
    const id = await addFailed();

    await context.get(JobRetrier).retry(id);
    await until(() => runs.length === 2, 'it ran again');
    await untilState(id, 'failed');
    await context.get(JobRetrier).retry(id, { reset: true });
    await until(() => runs.length === 3, 'it ran once more');

    expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2, 1]);
    await untilState(id, 'failed');
  });

  it('is under the present epochs of its owners', async () => {
    const id = await addFailed(['trip:1', 'driver:7']);
    await context.get(Owners).cancel('driver:7', { close: false });
    fails = false;

    expect(await context.get(JobRetrier).retry(id)).toBe(true);

    await untilState(id, 'completed');
  });

  it('of twenty calls at once is done by one, and makes one run', async () => {
    const id = await addFailed();

    const calls = Array.from({ length: 20 }, () => context.get(JobRetrier).retry(id));
    const answers = await Promise.allSettled(calls);

    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason.code] : []));
    expect(new Set(refused)).toEqual(new Set(['NOT_FAILED']));
    await until(() => runs.length === 2, 'it ran again');
    await untilState(id, 'failed');
    expect(runs).toHaveLength(2);
  });

  it('is refused for a closed owner, and the job keeps its error', async () => {
    const id = await addFailed();
    await context.get(Owners).cancel('trip:1');

    await expect(context.get(JobRetrier).retry(id)).rejects.toMatchObject({ code: 'OWNER_CLOSED' });

    expect(await read(id)).toMatchObject({ state: 'failed', error: 'too hot' });
  });

  it('is refused for a job that has not failed, also for one that was removed', async () => {
    const { id } = await context.get(Enqueuer).enqueue(work, {}, { owners: ['trip:2'], delay: '1h' });

    await expect(context.get(JobRetrier).retry(id)).rejects.toMatchObject({
      code: 'NOT_FAILED',
      state: 'delayed',
    });
    await context.get(Owners).cancel('trip:2');
    await expect(context.get(JobRetrier).retry(id)).rejects.toMatchObject({
      code: 'NOT_FAILED',
      state: 'removed',
    });
    expect(await context.get(JobRetrier).retry('work-00000000000000000000')).toBe(false);
    expect(await context.get(JobRetrier).retry('no such id')).toBe(false);
  });
});
