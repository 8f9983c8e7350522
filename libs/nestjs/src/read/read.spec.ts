import 'reflect-metadata';
import '../register.js';
import { Owners, owner, parseOwner } from '#core';
import { Processor } from '@nestjs/bullmq';
import type { INestApplicationContext } from '@nestjs/common';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CoreKit, until } from '../../../../test/support/core-kit.js';
import { startNestApp } from '../../../../test/support/nest-app.js';
import {
  ArtifactReader,
  CommittedArtifacts,
  defineKind,
  Enqueuer,
  Handler,
  Handles,
  JobCanceller,
  JobReader,
  KindProcessor,
  LoadReader,
  MooringModule,
  OwnerReader,
  QueueReader,
  viewOfReceipt,
  type EnqueueOptions,
  type OwnerView,
  type Payload,
  type RemovedJob,
  type Run,
} from '../index.js';
import type { Fact } from '../journal/fact.js';
import { Journal } from '../journal/journal.js';
import { viewOfRemoved } from './job-view.js';

const work = defineKind({
  name: 'audio.work',
  queue: 'audio',
  payload: z.object({ does: z.enum(['ends', 'fails', 'waits']).default('ends') }),
  owners: () => [owner('track', '1')],
  attempts: 2,
  backoff: ['1h'],
});

@Handles(work)
class WorkHandler extends Handler<typeof work> {
  async handle({ does }: Payload<typeof work>, { signal }: Run): Promise<unknown> {
    if (does === 'fails') throw new Error('no tape');
    if (does === 'waits' && !signal.aborted) await once(signal, 'abort');
    return { size: 64 };
  }
}

@Processor('audio', { concurrency: 5 })
class AudioProcessor extends KindProcessor {}

const TRACK = parseOwner('track:1');
let ids = 0;
const nextId = (): string => `audio-${String((ids += 1)).padStart(20, '0')}`;

describe('readers', () => {
  let kit: CoreKit;
  let app: INestApplicationContext;

  beforeEach(async () => {
    kit = new CoreKit();
  });

  afterEach(async () => {
    await app?.close();
    await kit.stop();
  });

  async function start(hasWorker = false): Promise<void> {
    app = await startNestApp({
      imports: [MooringModule.forRoot(kit.place), MooringModule.forKinds([work])],
      providers: hasWorker ? [WorkHandler, AudioProcessor] : [],
    });
  }

  async function enqueue(
    does: 'ends' | 'fails' | 'waits' = 'ends',
    options: EnqueueOptions = {},
  ): Promise<string> {
    const jobId = nextId();
    await app.get(Enqueuer).enqueue(work, { does }, { jobId, ...options });
    return jobId;
  }

  const read = (id: string) => app.get(JobReader).read(id);

  it('find a job by its id, in each state', async () => {
    await start(true);
    const [done, fails, waits, delayed] = [
      await enqueue(),
      await enqueue('fails'),
      await enqueue('waits'),
      await enqueue('ends', { delay: '1h' }),
    ];
    await until(async () => (await read(fails))?.state === 'retrying', 'it has failed once');
    await until(async () => (await read(done))?.state === 'completed', 'it has completed');
    await until(async () => (await read(waits))?.state === 'running', 'it runs');

    expect(await read(done)).toMatchObject({
      id: done,
      kind: 'audio.work',
      queue: 'audio',
      owners: ['track:1'],
      result: { size: 64 },
      error: null,
      attempts: 1,
    });
    expect(await read(fails)).toMatchObject({ error: 'no tape', attempts: 1, result: null });
    expect(await read(delayed)).toMatchObject({ state: 'delayed', attempts: 0 });
    for (const id of [nextId(), 'x', 'video-00000000000000000000', 'audio-%00'])
      expect(await read(id)).toBeUndefined();
    await app.get(Owners).cancel(TRACK, { wait: 'drained' });
  });

  it('report why a job no longer exists, with the reason of its cancel', async () => {
    await start();
    const id = await enqueue();
    await app.get(Owners).cancel(TRACK, { cancelId: 'c', reason: 'called off', by: 'ann' });
    const why = 'cancelled by ann: called off (it was waiting)';

    expect(await read(id)).toMatchObject({
      state: 'removed',
      kind: 'audio.work',
      why,
      error: why,
      timeline: [{ event: 'removed' }],
    });
    // A repeated cancel of a removed job returns the receipt of its cancel.
    expect(await app.get(JobCanceller).cancel(id)).toMatchObject({ cancelId: 'c', removed: 1 });
  });

  it('count the runs of the whole owner on each page', async () => {
    await start(true);
    const running = await Promise.all(Array.from({ length: 3 }, () => enqueue('waits')));
    // The store returns a small hash whole.
    await Promise.all(Array.from({ length: 600 }, () => enqueue('ends', { delay: '1h' })));
    for (const id of running) await until(async () => (await read(id))?.state === 'running', 'it runs');

    let cursor: string | null = '0';
    let pages = 0;
    while (cursor !== null) {
      const view: OwnerView = await app.get(OwnerReader).read(TRACK, cursor);
      expect(view.counts).toEqual({ jobs: 603, running: 3, ending: 0 });
      ({ cursor } = view);
      pages += 1;
    }
    expect(pages).toBeGreaterThan(1);
    await app.get(Owners).cancel(TRACK, { wait: 'drained' });
  });

  it('page through an owner', async () => {
    await start();
    for (let i = 0; i < 120; i += 1) await enqueue();
    const view = await app.get(OwnerReader).read(TRACK);
    expect(view).toMatchObject({
      owner: 'track:1',
      state: 'open',
      counts: { jobs: 120, running: 0, ending: 0 },
    });
    expect(view.jobs[0]).toMatchObject({
      queue: 'audio',
      kind: 'audio.work',
      state: 'waiting',
      hasBegun: false,
    });

    await app.get(Owners).cancel(TRACK);
    expect(await app.get(OwnerReader).closedAmong([TRACK, owner('track', '2')])).toEqual([TRACK]);
    expect(await app.get(OwnerReader).read(owner('track', '2'))).toMatchObject({
      epoch: null,
      jobs: [],
      cursor: null,
    });
  });

  it('show a queue with the age of its oldest job, whatever its priority, and pause it', async () => {
    await start();
    await enqueue('ends', { priority: 200 });
    await until(async () => (await queueView()).oldestWaitingMs! >= 100, 'it has waited');
    await enqueue('ends', { priority: 1 });
    await app.get(QueueReader).pause('audio');

    expect(await queueView()).toMatchObject({ counts: { waiting: 2, delayed: 0 }, paused: true });
    expect((await queueView()).oldestWaitingMs).toBeGreaterThanOrEqual(100);
    expect(await app.get(QueueReader).resume('audio')).toBe(true);
    expect(await app.get(QueueReader).pause('video')).toBe(false);
    await app.get(Owners).cancel(TRACK);
  });

  it('show as load what a worker could start now, and what runs', async () => {
    await start(true);
    const reader = app.get(LoadReader);
    const load = async () => (await reader.ofKinds(['audio.work']))[0];
    expect(await load()).toEqual({ queue: 'audio', load: 0, waiting: 0, running: 0, paused: false });

    const runs = await enqueue('waits');
    await until(async () => (await read(runs))?.state === 'running', 'it runs');
    await app.get(QueueReader).pause('audio');
    await enqueue();
    expect(await load()).toEqual({ queue: 'audio', load: 1, waiting: 0, running: 1, paused: true });
    await expect(reader.ofKinds(['audio.play'])).rejects.toThrow('audio.play');
    await app.get(Owners).cancel(TRACK);
  });

  it('count a delayed job as load from when it is due, although no worker has moved it', async () => {
    await start();
    await enqueue('ends', { delay: '1h' });
    await enqueue('ends', { delay: '300ms' });
    const reader = app.get(LoadReader);
    expect(await reader.all()).toMatchObject([{ load: 0 }]);
    await until(async () => (await reader.all())[0]!.load === 1, 'it is due');
    expect(await queueView()).toMatchObject({ counts: { waiting: 0, delayed: 2 } });
    await app.get(Owners).cancel(TRACK);
  });

  it('return a receipt for one job, an empty one if it has ended, and none for an unknown job', async () => {
    await start(true);
    const [waits, done] = [await enqueue('waits'), await enqueue()];
    await until(async () => (await read(waits))?.state === 'running', 'it runs');
    await until(async () => (await read(done))?.state === 'completed', 'it has completed');
    const canceller = app.get(JobCanceller);

    const receipt = viewOfReceipt((await canceller.cancel(waits, { by: 'ann', wait: 'drained' }))!);

    expect(receipt).toMatchObject({
      owner: 'track:1',
      job: waits,
      epoch: null,
      reason: 'no reason given',
      by: 'ann',
      aborted: 1,
      acknowledged: 1,
      ignored: 0,
      running: 0,
      byQueue: { audio: { removed: {}, aborted: 1, running: 0 } },
      done: true,
    });
    expect(receipt).not.toHaveProperty('late');
    expect(await canceller.cancel(done)).toMatchObject({ job: { id: done }, removed: 0, done: true });
    expect(await canceller.cancel(nextId())).toBeUndefined();
  });

  async function queueView() {
    return (await app.get(QueueReader).read()).find(({ queue }) => queue === 'audio')!;
  }
});

const gone: RemovedJob = {
  kind: 'audio.work',
  owners: ['track:1'],
  reason: 'cancelled',
  was: 'waiting',
  cancelId: '',
  attempts: 0,
  state: 'removed',
  words: 'cancelled',
  timeline: [{ at: 'then', event: 'removed' }],
};

describe('a job that no longer exists', () => {
  it('has the attempt that a cancel stopped', () => {
    const attemptsOf = (was: string) => viewOfRemoved('x-1', 'x', { ...gone, was, attempts: 1 }).attempts;
    expect([attemptsOf('running'), attemptsOf('retrying')]).toEqual([2, 1]);
  });
});

describe('the bytes of an artifact', () => {
  const entry = { name: 'a', size: 1, contentType: 'text/plain', sha256: '' };
  let facts: Fact[];
  beforeEach(() => (facts = []));
  const readerOf = (store: object, withinMs?: number): ArtifactReader => {
    const journal = new Journal({ connection: {}, listeners: [(fact) => facts.push(fact)] });
    return new ArtifactReader(store as CommittedArtifacts, journal, withinMs);
  };

  it('are unavailable if only the entry exists', async () => {
    let listed = [entry];
    const reader = readerOf({ list: async () => listed, open: async () => undefined });
    await expect(reader.open('x-1', 'a')).rejects.toMatchObject({ code: 'ARTIFACT_UNAVAILABLE' });
    expect(facts).toMatchObject([{ event: 'trouble', what: 'Artifact a of job x-1' }]);
    listed = [];
    expect(await reader.open('x-1', 'a')).toBeUndefined();
  });

  it('are closed if they arrive too late', async () => {
    const bytes = Readable.from(['x']);
    const store = { list: async () => [entry], open: () => new Promise<never>(() => undefined) };
    const late = {
      ...store,
      open: () => new Promise<{ bytes: Readable }>((resolve) => setTimeout(resolve, 40, { bytes })),
    };
    await expect(readerOf(store, 20).open('x-1', 'a')).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
    await expect(readerOf(late, 20).open('x-1', 'a')).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
    await until(() => bytes.destroyed, 'they are closed');
  });
});
