import 'reflect-metadata';
import { registerMooredClasses } from '../register.js';
import { BullModule, Processor } from '@nestjs/bullmq';
import type { INestApplicationContext, Provider } from '@nestjs/common';
import { Worker } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startNestApp } from '../../../../test/support/nest-app.js';
import { TestStore } from '../../../../test/support/store.js';
import { until } from '../../../../test/support/until.js';
import { Enqueuer } from '../enqueue/enqueuer.js';
import { QueueRegistry } from '../enqueue/queue-registry.js';
import type { Fact } from '../journal/fact.js';
import { defineKind, type Kind } from '../kinds/kind.js';
import { MooringModule } from '../mooring.module.js';
import type { KindWorkerOptions } from '../options.js';
import { Handler, Handles } from './handler.js';
import { KindProcessor } from './kind-processor.js';
import { QueueWorkers } from './queue-workers.js';

const payload = z.object({});
const song = defineKind({ name: 'song.mix', queue: 'songs', payload });
const film = defineKind({ name: 'film.cut', queue: 'films', payload });
const trailer = defineKind({ name: 'film.trailer', queue: 'films', payload });

@Handles(song)
class SongHandler extends Handler {
  handle(): Promise<unknown> {
    return Promise.resolve('mixed');
  }
}

@Handles(film)
class FilmHandler extends Handler {
  handle(): Promise<unknown> {
    return new Promise(() => undefined);
  }
}

@Processor('songs')
class SongProcessor extends KindProcessor {}

@Processor('films', { concurrency: 2 })
class FilmProcessor extends KindProcessor {}

const ALL = [SongHandler, SongProcessor, FilmHandler, FilmProcessor];

describe('the workers of the queues of kinds', () => {
  let store: TestStore;
  let app: INestApplicationContext | undefined;
  let facts: Fact[];

  beforeEach(async () => {
    [store, facts, app] = [await TestStore.start(), [], undefined];
  });

  afterEach(async () => {
    await app?.close();
    await store.stop();
  });

  async function start(
    worker: KindWorkerOptions,
    providers: Provider[] = ALL,
    kinds: readonly Kind[] = [song, film],
  ): Promise<INestApplicationContext> {
    const options = { connection: { url: store.url }, listeners: [(fact: Fact) => facts.push(fact)], worker };
    app = await startNestApp({
      imports: [MooringModule.forRoot(options), MooringModule.forKinds(kinds)],
      providers,
    });
    return app;
  }

  it('have the options of forRoot, overridden by those of @Processor', async () => {
    await start({ concurrency: 4, lockDuration: 3_000 });

    const workers = app!.get(QueueWorkers).all();
    expect(workers.map(({ name, opts }) => [name, opts.concurrency, opts.lockDuration])).toEqual([
      ['songs', 4, 3_000],
      ['films', 2, 3_000],
    ]);
    expect(facts.find(({ event }) => event === 'worker.started')).toMatchObject({
      queues: ['songs', 'films'],
      kinds: ['song.mix', 'film.cut'],
    });
  });

  it('leave the jobs of kinds that this process does not run to other processes', async () => {
    await start({ kinds: ['song.mix'] });
    const { id } = await app!.get(Enqueuer).enqueue(film, {}, { owners: ['film:1'] });
    const last = await app!.get(Enqueuer).enqueue(song, {}, { owners: ['song:1'] });

    const queues = app!.get(QueueRegistry);
    await until(async () => (await queues.get('songs').getJobState(last.id)) === 'completed', 'it is mixed');
    expect(await queues.get('films').getJobState(id)).toMatch(/waiting|prioritized/);
  });

  it.each<[string, KindWorkerOptions, Provider[], string]>([
    [
      'a handler',
      {},
      [SongHandler, SongProcessor, FilmHandler],
      "FilmHandler has no processor: provide a class with @Processor('films')",
    ],
    [
      'a kind',
      { kinds: ['film.cut'] },
      [SongHandler, SongProcessor],
      'is to take "film.cut", but has no processor for "films"',
    ],
  ])('are refused at the start if %s has no processor', async (_what, worker, providers, problem) => {
    await expect(start(worker, providers)).rejects.toThrow(problem);
  });

  it('are refused at the start if the classes of this library are not registered', async () => {
    const made: Worker[] = [];
    BullModule.workerClass = class extends Worker {
      constructor(...args: ConstructorParameters<typeof Worker>) {
        super(...args);
        made.push(this);
      }
    };
    try {
      await expect(start({}, [SongHandler, SongProcessor], [song])).rejects.toThrow(
        'SongProcessor has a plain worker',
      );
    } finally {
      registerMooredClasses();
      await Promise.all(made.map((worker) => worker.close()));
    }
  });

  it('are refused at the start if they run only some of the kinds of a queue', async () => {
    await expect(start({ kinds: ['film.cut'] }, ALL, [song, film, trailer])).rejects.toThrow(
      'This worker is to take "film.cut" but not "film.trailer", which share a queue.',
    );
  });

  it('shut down in time when the store is unavailable', async () => {
    await start({ shutdownTimeout: '1s' });
    await app!.get(Enqueuer).enqueue(film, {}, { owners: ['film:1'] });
    await until(() => facts.some(({ event }) => event === 'job.began'), 'it runs');
    store.freeze();

    const began = Date.now();
    await app!.get(QueueWorkers).beforeApplicationShutdown();
    await Promise.all(
      app!
        .get(QueueWorkers)
        .all()
        .map((worker) => worker.close()),
    );

    expect(Date.now() - began).toBeLessThan(3_000);
    expect(facts.at(-1)).toMatchObject({ event: 'worker.drained', stillRunning: 1 });
    store.thaw();
  });
});
