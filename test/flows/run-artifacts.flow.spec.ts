import {
  ArtifactReader,
  Canceller,
  defineKind,
  Enqueuer,
  Handler,
  Handles,
  JobReader,
  owner,
  RunLost,
  type JobArtifacts,
  type Kind,
  type LifecycleOptions,
  type Payload,
  type Run,
} from '#lifecycle';
import { getQueueToken } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { KeptArtifacts } from '../support/kept-artifacts.js';
import { LifecycleApp } from '../support/lifecycle-app.js';
import { until } from '../support/until.js';

const maker = defineKind({
  name: 'maker',
  queue: 'maker',
  payload: z.object({ does: z.string() }),
  attempts: 2,
  backoff: ['1h'],
  grace: '200ms',
});
const fast = defineKind({
  name: 'maker.fast',
  queue: 'maker',
  payload: z.object({ does: z.string() }),
  attempts: 2,
});
const leaves = defineKind({
  name: 'leaves',
  queue: 'other',
  payload: z.object({}),
  keep: { age: '1m', count: 5 },
});
const bare = defineKind({
  name: 'bare',
  queue: 'bare',
  payload: z.object({}),
  artifacts: false,
  keep: { age: '1m', count: 5, failed: { age: '2m', count: 7 } },
});
const besideOne = defineKind({
  name: 'beside.one',
  queue: 'other',
  payload: z.object({}),
  artifacts: false,
  keep: { age: '30s', failed: { age: '10d' } },
});
const KINDS: Kind[] = [maker, fast, leaves, bare, besideOne];

describe('a run and its artifacts', () => {
  let app: LifecycleApp;
  let prefix: string;
  let kept: KeptArtifacts;
  let store: JobArtifacts;
  let wrap: (store: JobArtifacts) => JobArtifacts | undefined;
  const said: string[] = [];
  const ran: string[] = [];
  /** The jobs that have put something, and wait to be told to stop. */
  const waiting: string[] = [];

  async function handle(does: string, run: Run): Promise<void> {
    ran.push(run.id);
    if (does !== 'nothing') await run.artifacts.put(`a of ${run.attempt}`, 'hello');
    if (does === 'fail') throw new Error('told to');
    if (does === 'fail once' && run.attempt === 1) throw new Error('told to');
    if (does === 'list') said.push(...run.artifacts.list().map(({ name }) => name));
    if (does === 'let go') {
      void run.artifacts.put('late', 'x').catch((error: Error) => said.push(error.name));
    }
    if (does === 'wait') {
      const told = new Promise((resolve) => run.signal.addEventListener('abort', resolve));
      waiting.push(run.id);
      await told;
      said.push(
        await run.artifacts.put('late', 'x').then(
          () => 'put',
          (error: Error) => error.name,
        ),
      );
    }
    if (does === 'ignore') {
      said.push('waits');
      await until(() => said.includes('go on'), 'told to go on');
      said.push(
        await run.artifacts.put('late', 'x').then(
          () => 'put',
          (error: Error) => error.name,
        ),
      );
    }
    if (does === 'stream') {
      async function* bytes(): AsyncGenerator<Buffer> {
        yield Buffer.from('x');
        run.stop(new RunLost('told to'));
        yield Buffer.from('y');
      }
      await run.artifacts.put('stream', bytes());
    }
  }

  @Injectable()
  @Handles(maker)
  class MakerHandler extends Handler<typeof maker> {
    handle({ does }: Payload<typeof maker>, run: Run): Promise<void> {
      return handle(does, run);
    }
  }

  @Injectable()
  @Handles(fast)
  class FastHandler extends Handler<typeof fast> {
    handle({ does }: Payload<typeof fast>, run: Run): Promise<void> {
      return handle(does, run);
    }
  }

  beforeEach(async () => {
    said.length = 0;
    ran.length = 0;
    wrap = (one) => one;
    prefix = `test-${randomBytes(6).toString('hex')}`;
    kept = await KeptArtifacts.open(prefix);
    ({ store } = kept);
  });
  afterEach(async () => {
    await kept.clear();
    await app.stop();
    await kept.close();
  });

  async function start(more: Partial<LifecycleOptions> = {}): Promise<void> {
    const artifacts = wrap(store);
    const worker = { kinds: ['maker', 'maker.fast'] };
    app = await LifecycleApp.start(KINDS, [MakerHandler, FastHandler], worker, undefined, prefix, {
      cleanUpEveryMs: 200,
      ...(artifacts && { artifacts }),
      ...more,
    });
  }

  async function enqueue(kind: typeof maker, does: string): Promise<string> {
    const to = { owners: [owner('trip', '42')] };
    return (await app.context.get(Enqueuer).enqueue(kind, { does }, to)).id;
  }

  function untilState(id: string, state: string): Promise<unknown> {
    return until(
      async () => (await app.context.get(JobReader).read(id))?.state === state,
      `${id} is ${state}`,
    );
  }

  async function names(id: string): Promise<string[]> {
    return (await app.context.get(ArtifactReader).list(id)).map(({ name }) => name);
  }

  it('shows what it has put so far, and others see it when it counts', async () => {
    await start();
    const id = await enqueue(maker, 'list');
    await untilState(id, 'completed');
    expect([said, await names(id)]).toEqual([['a of 1'], ['a of 1']]);
  });

  it('that failed shows nothing; the next one does', async () => {
    await start();
    const id = await enqueue(fast, 'fail once');
    await untilState(id, 'completed');
    expect(await names(id)).toEqual(['a of 2']);
  });

  it('that puts nothing asks nothing of the store', async () => {
    wrap = () =>
      new Proxy(store, { get: (_, name) => () => Promise.reject(new Error(`asked to ${String(name)}`)) });
    await start();
    const id = await enqueue(maker, 'nothing');
    await untilState(id, 'completed');
    expect(app.factsOf(id)).toEqual(['job.accepted', 'job.began', 'job.completed']);
  });

  it('that is cancelled can put nothing more, and leaves nothing', async () => {
    await start();
    const id = await enqueue(maker, 'wait');
    await until(() => waiting.includes(id), 'it has put something');
    await app.context.get(Canceller).cancel(owner('trip', '42'), { wait: 'drained' });
    await untilState(id, 'cancelled');
    expect([said, await kept.jobs(), await names(id)]).toEqual([['OwnerCancelled'], [], []]);
  });

  it('that is cancelled leaves alone what a new life of its job has made', async () => {
    await start();
    const id = await enqueue(maker, 'wait');
    await until(() => waiting.includes(id), 'it has put something');
    await store.put({ jobId: id, fence: '999' }, 'new', 'of a new life');
    await store.commit(id, '999');
    await app.context.get(Canceller).cancel(owner('trip', '42'), { wait: 'drained' });
    await untilState(id, 'cancelled');
    expect(await names(id)).toEqual(['new']);
  });

  it('that ends while it still puts something leaves none of that', async () => {
    wrap = (one) =>
      kept.with({
        put: async (by, name, ...rest) => {
          const hasEnded = async (): Promise<boolean> =>
            (await app.context.get(JobReader).read(by.jobId))?.state === 'completed';
          if (name === 'late') await until(hasEnded, 'its job has ended');
          return one.put(by, name, ...rest);
        },
      });
    await start();
    const id = await enqueue(maker, 'let go');
    await until(() => said.includes('RunLost'), 'it was told so');
    expect(await names(id)).toEqual(['a of 1']);
  });

  it('that is abandoned can put nothing more', async () => {
    await start();
    const id = await enqueue(maker, 'ignore');
    await until(() => said.includes('waits'), 'it runs');
    await app.context.get(Canceller).cancel(owner('trip', '42'), { wait: 'drained' });
    await untilState(id, 'cancelled');
    said.push('go on');
    await until(() => said.includes('OwnerCancelled'), 'it was told so');
    expect(await kept.jobs()).toEqual([]);
  });

  it('that is overtaken in the midst of a stream stops writing it', async () => {
    await start();
    const id = await enqueue(maker, 'stream');
    await until(() => app.factsOf(id).includes('job.lost'), 'it is lost');
    expect(await names(id)).toEqual([]);
    await app.context.get(Canceller).cancel(owner('trip', '42'), { wait: 'drained' });
  });

  it('whose result counts completes when its artifacts can be committed, and is not run again', async () => {
    let failures = 2;
    wrap = (one) =>
      kept.with({
        commit: (...args) => ((failures -= 1) >= 0 ? Promise.reject(new Error('away')) : one.commit(...args)),
      });
    await start();
    const id = await enqueue(maker, 'once');
    await untilState(id, 'completed');
    expect([failures, ran, await names(id)]).toEqual([-1, [id], ['a of 1']]);
  });

  it('says so when there is nowhere to put anything', async () => {
    wrap = () => undefined;
    await start();
    const id = await enqueue(fast, 'something');
    await untilState(id, 'failed');
    const job = await app.context.get(JobReader).read(id);
    expect(job?.error).toContain('nowhere to keep artifacts');
  });

  it('loses them before its job is taken out of its queue; a store that fails keeps the job, and is said', async () => {
    let isAway = true;
    wrap = (one) =>
      kept.with({
        removeAll: (jobId) => (isAway ? Promise.reject(new Error('away')) : one.removeAll(jobId)),
      });
    await start();
    const id = await enqueue(maker, 'fail');
    await untilState(id, 'retrying');
    const receipt = await app.context.get(Canceller).cancel(owner('trip', '42'));
    const isSaid = (): boolean =>
      app.facts.some((fact) => fact.event === 'queue.error' && String(Object.values(fact)).includes('away'));
    await until(isSaid, 'it is said');
    expect([receipt.done, (await kept.jobs()).length]).toEqual([false, 1]);
    await untilState(id, 'retrying');

    isAway = false;
    await until(async () => (await kept.jobs()).length === 0, 'nothing of it is left');
    await untilState(id, 'removed');
  });

  it('has a job that BullMQ removes only long after a sweep should have, unless no kind of its queue leaves any', async () => {
    await start({ retention: { ageMs: 3_600_000, count: 10 } });
    const keptOf = async (kind: Kind, payload: object): Promise<unknown[]> => {
      const to = { owners: [owner('trip', '42')], delay: '1h' } as const;
      const { id, queue } = await app.context.get(Enqueuer).enqueue(kind, payload, to);
      const { opts } = (await app.context.get<Queue>(getQueueToken(queue)).getJob(id))!;
      return [opts.removeOnComplete, opts.removeOnFail];
    };
    const all = [
      await keptOf(maker, { does: '' }),
      await keptOf(leaves, {}),
      await keptOf(besideOne, {}),
      await keptOf(bare, {}),
    ];
    await app.context.get(Canceller).cancel(owner('trip', '42'), { wait: 'drained' });
    const days = (count: number): object => ({ age: count * 86_400 });
    expect(all).toEqual([
      [days(3), days(3)],
      [days(3), days(21)],
      [days(3), days(21)],
      [
        { age: 60, count: 5 },
        { age: 120, count: 7 },
      ],
    ]);
  });
});
