import 'reflect-metadata';
import { Processor } from '@nestjs/bullmq';
import type { INestApplicationContext } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { KindApp } from '../../../../test/support/kind-app.js';
import { until } from '../../../../test/support/until.js';
import { QueueRegistry } from '../enqueue/queue-registry.js';
import { defineKind, type Payload } from '../kinds/kind.js';
import { JobReader } from '../read/job-reader.js';
import { Handler, Handles } from '../run/handler.js';
import { KindProcessor } from '../run/kind-processor.js';
import type { Run } from '../run/run.js';
import type { Flow } from './flow.js';
import { Flows } from './flows.js';

const part = defineKind({
  name: 'part',
  queue: 'parts',
  payload: z
    .object({ does: z.enum(['work', 'fail', 'wait', 'waitToFail']).default('work') })
    .default({ does: 'work' }),
});
const whole = defineKind({ name: 'whole', queue: 'wholes', payload: z.any() });
const ran: string[] = [];
let release: (() => void)[] = [];

@Handles(part)
class PartHandler extends Handler<typeof part> {
  async handle({ does }: Payload<typeof part>): Promise<string> {
    if (does.startsWith('wait')) await new Promise<void>((resolve) => release.push(resolve));
    if (does === 'fail' || does === 'waitToFail') throw new Error('It broke.');
    return 'made';
  }
}

@Handles(whole)
class WholeHandler extends Handler<typeof whole> {
  async handle(_: unknown, run: Run): Promise<unknown> {
    ran.push(run.id);
    return run.children();
  }
}

@Processor('parts', { concurrency: 5 })
class Parts extends KindProcessor {}

@Processor('wholes', { concurrency: 5 })
class Wholes extends KindProcessor {}

const WORKERS = [PartHandler, WholeHandler, Parts, Wholes];
const fails: Flow = { kind: part, payload: { does: 'fail' } };
const waits: Flow = { kind: part, payload: { does: 'wait' } };

describe('Flows', () => {
  let app: KindApp;
  let context: INestApplicationContext;

  beforeEach(() => {
    ran.length = 0;
    release = [];
    app = new KindApp();
  });

  afterEach(() => app.stop());

  const add = (flow: Flow) => context.get(Flows).add({ owners: ['ship:1'], ...flow });
  const queue = (name: string) => context.get(QueueRegistry).get(name);

  async function ended(
    id: string,
    state = 'completed',
  ): Promise<{ returnvalue: unknown; failedReason: string }> {
    await until(async () => (await queue('wholes').getJobState(id)) === state, `${id} is ${state}`);
    return (await queue('wholes').getJob(id))!;
  }

  it('tell a parent how its children ended, in the order in which they were named', async () => {
    context = await app.start([part, whole], WORKERS);
    const flow = await add({
      kind: whole,
      onChildFailure: 'ignore',
      children: [{ kind: part }, fails, { kind: whole, owners: ['dock:9'], children: [{ kind: part }] }],
    });

    const [first, second, third] = flow.children;
    expect(third!.children[0]!.owners).toEqual(['dock:9']);
    expect((await ended(flow.id)).returnvalue).toMatchObject([
      { id: first!.id, kind: 'part', state: 'completed', result: 'made' },
      { id: second!.id, kind: 'part', state: 'failed', error: 'It broke.' },
      { id: third!.id, kind: 'whole', state: 'completed', result: [{ result: 'made' }] },
    ]);
  });

  it('run a parent with the policy continue once when a child fails, and complete it after its children', async () => {
    context = await app.start([part, whole], WORKERS);
    const { id } = await add({ kind: whole, onChildFailure: 'continue', children: [fails, waits] });

    await until(
      async () => (await queue('wholes').getJobState(id)) === 'waiting-children' && ran.length === 1,
      'it ran',
    );
    await until(() => release.length === 1, 'its other child runs');
    release[0]!();

    expect((await ended(id)).returnvalue).toMatchObject([{ state: 'failed' }, { state: 'pending' }]);
    expect(ran).toEqual([id]);
  });

  it('keep the result of a parent with the policy continue while its children fail one after the other', async () => {
    context = await app.start([part, whole], WORKERS);
    const later: Flow = { kind: part, payload: { does: 'waitToFail' } };
    const { id } = await add({ kind: whole, onChildFailure: 'continue', children: [fails, later, waits] });
    await until(() => ran.length === 1 && release.length === 2, 'it ran, and its other children run');
    await until(async () => (await queue('wholes').getJobState(id)) === 'waiting-children', 'it waits');

    release[0]!();
    await until(async () => (await queue('wholes').getJob(id))!.attemptsStarted === 2, 'it is back');
    await until(async () => (await queue('wholes').getJobState(id)) === 'waiting-children', 'it waits again');
    release[1]!();

    expect((await ended(id)).returnvalue).toMatchObject([
      { state: 'failed' },
      { state: 'pending' },
      { state: 'pending' },
    ]);
    expect(ran).toEqual([id]);
    expect(app.factsOf(id)).toEqual(['job.accepted', 'job.began', 'job.completed']);
    expect((await context.get(JobReader).read(id))!.timeline.map(({ event }) => event)).toEqual([
      'accepted',
      'began',
      'retrying',
      'began',
      'completed',
    ]);
  });

  it('fail a parent whose child failed, without counting an attempt', async () => {
    context = await app.start([part, whole], WORKERS);
    const flow = await add({ kind: whole, children: [fails] });
    await ended(flow.id, 'failed');

    const job = (await context.get(JobReader).read(flow.id))!;
    const error = `its child ${flow.children[0]!.id} did not complete`;
    expect(job).toMatchObject({ state: 'failed', error, attempts: 0 });
    expect(job.timeline).toMatchObject([{ event: 'accepted' }, { event: 'failed', why: error }]);
    expect(ran).toEqual([]);
  });

  it('fail a parent whose child was removed, without running it', async () => {
    context = await app.start([part, whole]);
    const flow = await add({ kind: whole, children: [{ kind: part }] });
    await queue('parts').remove(flow.children[0]!.id);

    await app.start([part, whole], WORKERS);

    expect((await ended(flow.id, 'failed')).failedReason).toBe('a child of it was removed');
    expect(ran).toEqual([]);
    await until(() => app.factsOf(flow.id).includes('job.failed'), 'it is reported');
    expect(app.factsOf(flow.id)).toEqual(['job.accepted', 'job.failed']);
  });

  it.each<[string, Partial<Flow>, RegExp]>([
    [
      'a payload',
      { children: [{ kind: part }, { kind: part, payload: { does: 'x' } }] },
      /^children\[1\]: The payload/,
    ],
    [
      'an owner',
      { children: [{ kind: whole, children: [{ kind: part, owners: ['x'] }] }] },
      /^children\[0\]\.children\[0\]: An owner/,
    ],
    ['a policy', { onChildFailure: 'retry' as never }, /onChildFailure/],
    ['deduplication', { children: [{ kind: part, dedup: {} } as never] }, /dedup/],
    ['its owners', { owners: [] }, /one to 4 owners/],
    ['a sixth level', deep(6), /at most 5 jobs deep/],
    [
      'its 101st job',
      { children: Array.from({ length: 100 }, () => ({ kind: part })) },
      /^children\[99\]: a flow has at most 100 jobs/,
    ],
  ])('are refused as a whole for %s', async (_what, more, why) => {
    context = await app.start([part, whole]);

    await expect(add({ kind: whole, ...more })).rejects.toThrow(why);
    await expect(
      app.owners
        .cancel('dock:1')
        .then(() => add({ kind: whole, children: [{ kind: part, owners: ['dock:1'] }] })),
    ).rejects.toMatchObject({ code: 'OWNER_CLOSED' });
    expect(await queue('wholes').getJobCountByTypes()).toBe(0);
  });
});

function deep(levels: number): Partial<Flow> {
  return levels === 1 ? {} : { children: [{ kind: whole, ...deep(levels - 1) }] };
}
