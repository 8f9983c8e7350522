import { defineKind, Enqueuer, Handler, Handles, JobReader, type Run } from '#nestjs';
import { owner, Owners } from '#core';
import { Injectable, type INestApplicationContext } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { KindApp } from '../support/kind-app.js';
import { Proxy } from '../support/proxy.js';
import { until } from '../support/until.js';

const TRIP = owner('trip', '42');
const long = defineKind({ name: 'long', queue: 'long', payload: z.object({}), grace: '1s' });

/** I5, I8: the worker receives no message about the cancel. The renewal of its lease reports it. */
describe('a run that was not told of its cancel', () => {
  let proxy: Proxy;
  let app: KindApp;
  let context: INestApplicationContext;
  let reasons: unknown[];
  beforeEach(async () => {
    proxy = await Proxy.start(inject('storeUrl'));
    reasons = [];
  });
  afterEach(async () => {
    await app.untilNothingIsLeft();
    await app.stop();
    await proxy.stop();
  });

  it('stops when the cancel could not be written to the stream', async () => {
    await start();
    const stream = `${app.prefix}~cancelled`;
    await app.redis.set(stream, 'of a wrong type');
    await expectStopped();
    expect(await app.redis.get(stream)).toBe('of a wrong type');
  });

  it('stops when its connection is dead and the client has not noticed', async () => {
    const isDead = proxy.next('hang', /\r\nxread\r\n/i);
    await start();
    await isDead;
    await expectStopped();
    expect(await app.redis.xlen(`${app.prefix}~cancelled`)).toBeGreaterThan(0);
  });

  it('stops when its connection is replaced, long before its lease is renewed', async () => {
    const isDead = proxy.next('hang', /\r\nxread\r\n/i);
    await start(120_000);
    await isDead;
    const { id } = await context.get(Enqueuer).enqueue(long, {}, { owners: [TRIP] });
    await until(() => app.factsOf(id).includes('job.began'), 'it runs');
    await context.get(Owners).cancel(TRIP);
    await until(() => reasons.length === 1, 'it was told', 20_000);
    expect(reasons).toEqual(['cancelled']);
    await until(() => app.factsOf(id).length > 2, 'it ended');
  });

  async function start(lockDuration = 2_000): Promise<void> {
    const stopped = reasons;
    @Injectable()
    @Handles(long)
    class LongHandler extends Handler<typeof long> {
      handle(_: object, { signal }: Run): Promise<never> {
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => {
            stopped.push(signal.reason);
            reject(new Error('told to stop'));
          }),
        );
      }
    }
    app = new KindApp(proxy.url);
    context = await app.startWorker([long], [LongHandler], { worker: { lockDuration } });
  }

  async function expectStopped(): Promise<void> {
    const { id } = await context.get(Enqueuer).enqueue(long, {}, { owners: [TRIP] });
    await until(() => app.factsOf(id).includes('job.began'), 'it runs');
    const receipt = await context.get(Owners).cancel(TRIP, { wait: 'drained', waitFor: '10s' });
    expect(receipt).toMatchObject({ aborted: 1, acknowledged: 1, removed: 0, done: true });
    expect(reasons).toEqual(['cancelled']);
    expect(await context.get(JobReader).read(id)).toMatchObject({ state: 'cancelled', attempts: 1 });
  }
});
