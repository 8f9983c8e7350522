import { Owners } from '#core';
import { JobReader, defineKind, Handler, Handles, KindProcessor, MooringModule } from '#nestjs';
import '#nestjs/register';

import { BullModule, Processor } from '@nestjs/bullmq';
import type { INestApplicationContext } from '@nestjs/common';
import { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { startNestApp } from '../../../../test/support/nest-app.js';
import { Postgres } from '../../../../test/support/postgres.js';
import { until } from '../../../../test/support/until.js';
import { OutboxRows } from '../outbox-rows.js';
import { KindOutbox } from './kind-outbox.js';
import { OutboxModule } from './outbox.module.js';

const thumbnail = defineKind({
  name: 'photo.thumbnail',
  queue: 'photos',
  payload: z.object({ photoId: z.string(), width: z.coerce.number().default(100) }),
  owners: ({ photoId }) => [`photo:${photoId}`],
});
const made: { photoId: string; width: number }[] = [];

@Handles(thumbnail)
class ThumbnailHandler extends Handler<typeof thumbnail> {
  async handle(payload: { photoId: string; width: number }): Promise<void> {
    made.push(payload);
  }
}

@Processor('photos')
class PhotosProcessor extends KindProcessor {}

describe('OutboxModule', () => {
  let postgres: Postgres;
  let pool: Pool;
  let app: INestApplicationContext | undefined;

  beforeAll(async () => {
    postgres = await Postgres.start();
    pool = new Pool({ connectionString: postgres.url, max: 6 });
  });

  afterEach(async () => {
    await app?.close();
    app = undefined;
  });

  afterAll(async () => {
    await pool?.end();
    await postgres?.stop();
  });

  const start = (relay: boolean) => {
    const connection = { url: inject('storeUrl') };
    const prefix = `test-outbox-${process.pid}`;
    return startNestApp({
      imports: [
        BullModule.forRoot({ connection, prefix }),
        MooringModule.forRoot({ connection, prefix, listeners: [] }),
        MooringModule.forKinds([thumbnail]),
        OutboxModule.forRootAsync({ useFactory: () => ({ pool, relay, migrate: true, schema: 'Shop "1"' }) }),
      ],
      providers: [ThumbnailHandler, PhotosProcessor],
    });
  };

  it('enqueues a kind in a transaction; its relay adds the job, which runs with the checked payload', async () => {
    app = await start(true);
    const outbox = app.get(KindOutbox);
    const client = await pool.connect();
    await client.query('begin');
    const payload = { photoId: '1', width: '7' as unknown as number };
    const { id, owners } = await outbox.enqueue(client, thumbnail, payload);
    await client.query('commit');
    client.release();

    await until(() => made.length === 1, 'it ran');
    expect(owners).toEqual(['photo:1']);
    expect(made).toEqual([{ photoId: '1', width: 7 }]);
    expect(await app.get(JobReader).read(id)).toMatchObject({ state: 'completed' });
    await until(async () => (await app!.get(OutboxRows).counts()).pending === 0, 'its row is done');
  });

  it('refuses a wrong payload at the call, and keeps the job of a closed owner with the reason', async () => {
    app = await start(true);
    const outbox = app.get(KindOutbox);
    await expect(outbox.enqueue(pool, thumbnail, {} as never)).rejects.toMatchObject({ code: 'INVALID' });
    await expect(
      outbox.enqueue(pool, thumbnail, { photoId: '2' }, { jobId: 'x' } as never),
    ).rejects.toMatchObject({ code: 'INVALID' });

    const { cancelId } = await outbox.cancel(pool, 'photo:2', { reason: 'deleted' });
    const { id } = await outbox.enqueue(pool, thumbnail, { photoId: '2' });
    const rows = app.get(OutboxRows);
    await until(async () => (await rows.counts()).refused === 1, 'it was refused');
    expect(await rows.list()).toMatchObject([{ id, name: 'photo.thumbnail', code: 'OWNER_CLOSED' }]);
    expect(await app.get(Owners).receipt(cancelId)).toMatchObject({ reason: 'deleted', done: true });
  });
});
