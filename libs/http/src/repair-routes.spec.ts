import 'reflect-metadata';
import '#nestjs/register';
import { Owners } from '#core';
import {
  defineKind,
  Enqueuer,
  Handler,
  Handles,
  JobReader,
  KindProcessor,
  MooringModule,
  type EnqueueOptions,
} from '#nestjs';
import { Processor } from '@nestjs/bullmq';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CoreKit } from '../../../test/support/core-kit.js';
import { until } from '../../../test/support/until.js';
import { MooringHttpModule } from './index.js';

const work = defineKind({ name: 'work', queue: 'work', payload: z.object({}) });
const UNKNOWN = 'work-00000000000000000000';
let runs: string[] = [];
let release = (): void => undefined;
let isHeld = false;

@Handles(work)
class WorkHandler extends Handler<typeof work> {
  async handle(_payload: object, { id }: { readonly id: string }): Promise<void> {
    runs.push(id);
    if (isHeld) await new Promise<void>((resolve) => (release = resolve));
  }
}

@Processor('work')
class WorkProcessor extends KindProcessor {}

describe('the routes that move a job', () => {
  let kit: CoreKit;
  let app: NestFastifyApplication;

  beforeAll(async () => {
    kit = new CoreKit();
    class App {}
    const imports = [
      MooringModule.forRoot({ ...kit.place, listeners: [], worker: { concurrency: 1 } }),
      MooringModule.forKinds([work]),
      MooringHttpModule.register({ guard: false }),
    ];
    const module = { module: App, imports, providers: [WorkHandler, WorkProcessor] };
    app = await NestFactory.create(module, new FastifyAdapter(), { logger: false, abortOnError: false });
    await app.init();
  });
  beforeEach(() => {
    runs = [];
    isHeld = false;
  });
  afterAll(async () => {
    await app.close();
    await kit.stop();
  });

  async function post(
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const json = { 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { headers: json, payload: JSON.stringify(body) };
    const answer = await app.inject({ method: 'POST', url: `/v1/${path}`, ...sent });
    return { status: answer.statusCode, body: answer.json() };
  }
  const enqueue = async (options: EnqueueOptions = {}): Promise<string> =>
    (await app.get(Enqueuer).enqueue(work, {}, { owners: ['trip:1'], ...options })).id;
  const untilState = (id: string, state: string): Promise<unknown> =>
    until(async () => (await app.get(JobReader).read(id))?.state === state, `${id} is ${state}`);
  const completed = async (): Promise<string> => {
    const id = await enqueue();
    await untilState(id, 'completed');
    return id;
  };
  /** A job that runs until the test releases it. */
  const running = async (): Promise<string> => {
    isHeld = true;
    const id = await enqueue();
    await until(() => runs.includes(id), 'it runs');
    isHeld = false;
    return id;
  };
  const cancelled = async (): Promise<string> => {
    const id = await enqueue({ owners: ['trip:gone'], delay: '1h' });
    await app.get(Owners).cancel('trip:gone', { close: false });
    return id;
  };

  it('let a delayed job run now, once, however many ask at a time', async () => {
    const id = await enqueue({ delay: '1h' });
    const answers = await Promise.all([1, 2, 3].map(() => post(`jobs/${id}/promote`)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
    expect(answers.find(({ status }) => status === 200)!.body).toMatchObject({
      id,
      kind: 'work',
      owners: ['trip:1'],
    });
    await untilState(id, 'completed');
    expect(runs).toEqual([id]);
  });

  it('let the job with the most urgent priority run first, also one that was delayed', async () => {
    const first = await running();
    const waiting = [await enqueue(), await enqueue(), await enqueue()];
    const delayed = await enqueue({ delay: '1h' });
    expect(await post(`jobs/${waiting[2]}/priority`, { priority: 2 })).toMatchObject({
      status: 200,
      body: { id: waiting[2], state: 'waiting' },
    });
    expect(await post(`jobs/${waiting[0]}/priority`, { priority: 200 })).toMatchObject({ status: 200 });
    expect(await post(`jobs/${delayed}/priority`, { priority: 1 })).toMatchObject({
      body: { state: 'delayed' },
    });
    expect(await post(`jobs/${delayed}/promote`)).toMatchObject({ status: 200, body: { state: 'waiting' } });
    release();
    await until(() => runs.length === 5, 'all ran');
    expect(runs).toEqual([first, delayed, waiting[2], waiting[1], waiting[0]]);
  });

  it('leave a job alone that is in another state', async () => {
    const waits = await running();
    const next = await enqueue();
    const ids = { running: waits, waiting: next, completed: '', removed: await cancelled() };
    expect(await post(`jobs/${ids.waiting}/promote`)).toMatchObject({
      status: 409,
      body: { code: 'NOT_DELAYED' },
    });
    expect(await post(`jobs/${ids.running}/promote`)).toMatchObject({
      status: 409,
      body: { code: 'NOT_DELAYED' },
    });
    expect(await post(`jobs/${ids.running}/priority`, { priority: 1 })).toMatchObject({
      status: 409,
      body: { code: 'NOT_WAITING', detail: expect.stringContaining(ids.running) },
    });
    release();
    await untilState(next, 'completed');
    ids.completed = await completed();
    for (const id of [ids.completed, ids.removed]) {
      expect(await post(`jobs/${id}/promote`)).toMatchObject({ status: 409, body: { code: 'NOT_DELAYED' } });
      expect(await post(`jobs/${id}/priority`, { priority: 1 })).toMatchObject({
        status: 409,
        body: { code: 'NOT_WAITING' },
      });
    }
    expect(runs).not.toContain(ids.removed);
  });

  it.each([
    [{ priority: 0 }],
    [{ priority: 201 }],
    [{ priority: 1.5 }],
    [{ priority: '1' }],
    [{}],
    [{ priority: 1, lifo: true }],
    [[1]],
    [undefined],
  ])('refuse the priority in %o, and change nothing', async (body) => {
    const id = await enqueue({ delay: '1h' });
    const before = await kit.redis.hgetall(`${kit.prefix}:work:${id}`);
    expect(await post(`jobs/${id}/priority`, body)).toMatchObject({ status: 400, body: { code: 'INVALID' } });
    expect(await kit.redis.hgetall(`${kit.prefix}:work:${id}`)).toEqual(before);
    await app.get(Owners).cancel('trip:1', { close: false });
  });

  it('know no job of an unknown id', async () => {
    for (const id of [UNKNOWN, 'none', '%00'])
      for (const [route, body] of [['promote'], ['priority', { priority: 1 }]] as const)
        expect(await post(`jobs/${id}/${route}`, body)).toMatchObject({
          status: 404,
          body: { code: 'NOT_FOUND' },
        });
  });
});
