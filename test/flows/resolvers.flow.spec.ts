import { owner, Owners } from '#core';
import { defineKind, Enqueuer, Handler, Handles, JobReader, type JobView } from '#nestjs';
import { ConfiguredResolvers } from '#resolvers';
import type { INestApplicationContext } from '@nestjs/common';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Fleet } from '../support/fleet.js';
import { KindApp } from '../support/kind-app.js';
import { answer, OwnerService } from '../support/owner-service.js';
import { TestProcess } from '../support/process.js';
import { until } from '../support/until.js';

let service: OwnerService;
beforeAll(async () => (service = await OwnerService.start()));
afterAll(() => service.stop());

const work = defineKind({
  name: 'ride.offer',
  queue: 'offers',
  payload: z.object({}),
  checkOwner: 'start',
  onUnknownOwner: 'wait',
});

@Handles(work)
class Offer extends Handler<typeof work> {
  async handle(): Promise<string> {
    return 'offered';
  }
}

/** The settings name a service that knows which owners are alive. */
describe('an owner of another service', () => {
  let resolvers: ConfiguredResolvers;
  let app: KindApp;
  let context: INestApplicationContext;

  beforeEach(async () => {
    const settings = new Map([['ride', { via: 'http', type: 'ride', url: service.url } as const]]);
    resolvers = new ConfiguredResolvers(settings, () => undefined);
    const more = { resolvers: resolvers.byType };
    const provided = [Offer, { provide: ConfiguredResolvers, useValue: resolvers }];
    app = new KindApp();
    context = await app.startWorker([work], provided, more);
  });
  afterEach(async () => {
    await app.untilNothingIsLeft();
    await app.stop();
  });

  it('is alive: its job runs; is gone: its job is skipped; is unknown: its job waits', async () => {
    service.behave = (call) =>
      answer(call, {
        alive: call.ids.filter((id) => id === '1'),
        gone: call.ids.filter((id) => id === '2'),
        unknown: call.ids.filter((id) => id === '3'),
      });
    const [first, second, third] = await Promise.all(['1', '2', '3'].map(enqueue));
    expect(await until(() => ended(first!), 'the first ended')).toMatchObject({ state: 'completed' });
    expect(await until(() => ended(second!), 'the second ended')).toMatchObject({
      state: 'skipped',
      error: 'its owner is gone',
    });
    await until(() => app.factsOf(third!).includes('job.put-off'), 'the third was put off');

    await context.get(Owners).cancel(owner('ride', '3'), { reason: 'the test is over' });
  });

  async function enqueue(id: string): Promise<string> {
    return (await context.get(Enqueuer).enqueue(work, {}, { owners: [owner('ride', id)] })).id;
  }

  async function ended(id: string): Promise<JobView | undefined> {
    const job = await context.get(JobReader).read(id);
    return job && ['completed', 'failed', 'skipped'].includes(job.state) ? job : undefined;
  }
});

describe('the resolvers of a settings file', () => {
  let folder: string;
  let path: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mooring-resolvers-'));
    path = join(folder, 'resolvers.json');
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('are used in workers and janitors, which warn about unproven ones and shut down in order', async () => {
    const canaries = { alive: '1', gone: '2' };
    const file = {
      ride: { http: { url: service.url, authorization: 'Bearer ${RIDES_TOKEN}', canaries } },
      photo: { sql: { url: 'postgres://db.test/photos', query: 'select id from photos where id = any($1)' } },
    };
    await writeFile(path, JSON.stringify(file));
    const fleet = await Fleet.start({
      janitor: true,
      env: { OWNER_RESOLVERS: path, RIDES_TOKEN: 'hush', EVENTS_OUT: 'off' },
    });
    try {
      for (const process of fleet.processes) {
        const unproven = process.facts().filter((line) => line['event'] === 'resolver.unproven');
        expect(unproven.map(({ type, level }) => ({ type, level }))).toEqual(
          process === fleet.api ? [] : [{ type: 'photo', level: 40 }],
        );
        expect(process.output).not.toContain('hush');
      }
    } finally {
      await fleet.stop();
    }
  });

  it.each(['worker', 'janitor'])('keep the %s from starting when they are invalid', async (app) => {
    const file = { ride: { http: { url: 'https://10.0.0.7/' } }, photo: { sql: { query: 'select 1' } } };
    await writeFile(path, JSON.stringify(file));
    const child = TestProcess.app(app, { REDIS_URL: 'redis://127.0.0.1:1', OWNER_RESOLVERS: path });
    expect(await child.exited).toEqual({ code: 1, signal: null });
    const lines = child.output.split('\n').filter((line) => line.includes('OWNER_RESOLVERS'));
    expect(lines).toEqual([
      expect.stringMatching(/ride: http: url: 10.0.0.7 is in a private network/),
      expect.stringMatching(/photo: sql.url: /),
      expect.stringMatching(/photo: sql.query: expected a query with \$1/),
    ]);
  });
});
