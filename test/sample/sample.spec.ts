import { owner } from '#core';
import { Enqueuer, JobReader, OwnerReader, type Fact, type JobView } from '#nestjs';
import { getQueueToken } from '@nestjs/bullmq';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { until } from '../support/until.js';
import { Album } from './album.js';
import { forget, thumbnail } from './photo.kinds.js';
import { SampleModule } from './sample.module.js';

describe('the library in an application of a user', () => {
  const name = randomBytes(6).toString('hex');
  const [prefix, ownPrefix] = [`sample-${name}`, `letters-${name}`];
  let app: INestApplicationContext;
  let facts: Fact[];

  beforeEach(async () => {
    facts = [];
    const options = {
      storeUrl: inject('storeUrl'),
      prefix,
      ownPrefix,
      listener: (fact: Fact) => void facts.push(fact),
    };
    app = await NestFactory.createApplicationContext(SampleModule.with(options), {
      logger: false,
      abortOnError: false,
    });
  });

  afterEach(async () => {
    try {
      await untilNothingIsLeft(inject('storeUrl'), prefix);
    } finally {
      await app.close();
    }
    const redis = new Redis(inject('storeUrl'));
    const clients = (await redis.client('LIST')) as string;
    for (const key of await redis.keys(`*${name}*`)) await redis.del(key);
    await redis.quit();
    expect(clients.split('\n').filter((client) => client.includes(name))).toEqual([]);
  });

  it('runs its kinds on its queues, next to a processor of the application', async () => {
    const ticket = await app
      .get(Enqueuer)
      .enqueue(thumbnail, { photoId: 'p1' }, { owners: [owner('user', 'ada')] });
    const letters = app.get<Queue>(getQueueToken('letters'));
    const letter = await letters.add('letter', { to: 'ada' });

    expect(await completed(ticket.id)).toMatchObject({
      queue: 'photos',
      kind: 'photo.thumbnail',
      owners: ['user:ada'],
      state: 'completed',
      progress: 100,
      result: { file: 'p1@100.png' },
    });
    await until(async () => (await letter.getState()) === 'completed', 'the letter is sent');
    const { files, letters: sent } = app.get(Album);
    expect({ files, sent }).toEqual({ files: ['p1@100.png'], sent: ['ada'] });
    expect(facts.map(({ event }) => event)).toEqual([
      'worker.started',
      'job.accepted',
      'job.began',
      'job.completed',
    ]);
  });

  it('keeps their keys apart in the store', async () => {
    const redis = new Redis(inject('storeUrl'));
    await app.get<Queue>(getQueueToken('letters')).add('letter', { to: 'ada' });
    const { id } = await app
      .get(Enqueuer)
      .enqueue(thumbnail, { photoId: 'p1' }, { owners: [owner('user', 'ada')] });
    await completed(id);
    const beginnings = (await redis.keys(`*${name}*`)).map((key) => key.split(name)[0]);
    expect(new Set(beginnings)).toEqual(new Set(['sample-', 'letters-']));
    await redis.quit();
  });

  it("asks the application's resolver where a kind wants that", async () => {
    const enqueuer = app.get(Enqueuer);
    const payload = { photoId: 'p1' };
    const gone = await enqueuer.enqueue(forget, payload, { owners: [owner('user', 'gone')] });
    const alive = await enqueuer.enqueue(forget, payload, { owners: [owner('user', 'ada')] });
    expect(await completed(alive.id)).toMatchObject({ state: 'completed' });
    expect(await completed(gone.id)).toMatchObject({ state: 'skipped', error: 'its owner is gone' });
  });

  it('reports the jobs of an owner', async () => {
    const { id } = await app
      .get(Enqueuer)
      .enqueue(thumbnail, { photoId: 'p1' }, { owners: [owner('user', 'ada')], delay: '1h' });
    expect(await app.get(OwnerReader).read(owner('user', 'ada'))).toMatchObject({
      owner: 'user:ada',
      state: 'open',
      counts: { jobs: 1, running: 0 },
      jobs: [{ id, queue: 'photos', hasBegun: false }],
    });
    await app
      .get<Queue>(getQueueToken('photos'))
      .getJob(id)
      .then((job) => job!.promote());
    await completed(id);
  });

  function completed(id: string): Promise<JobView> {
    return until(async () => {
      const job = await app.get(JobReader).read(id);
      return job && (job.state === 'completed' || job.state === 'skipped') && job;
    }, `${id} has ended`);
  }
});
