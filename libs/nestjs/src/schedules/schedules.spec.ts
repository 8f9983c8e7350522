import 'reflect-metadata';
import { Processor } from '@nestjs/bullmq';
import type { INestApplicationContext, Provider } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { KindApp } from '../../../../test/support/kind-app.js';
import { until } from '../../../../test/support/until.js';
import { defineKind } from '../kinds/kind.js';
import { queueOfJobId } from '../kinds/job-ids.js';
import { Handler, Handles } from '../run/handler.js';
import { KindProcessor } from '../run/kind-processor.js';
import type { Run } from '../run/run.js';
import { Schedules } from './schedules.js';

const options = { name: 'night', payload: z.object({}).default({}), owners: () => ['site:1'] };
const nightly = defineKind({ ...options, queue: 'nights' });
const moved = defineKind({ ...options, name: 'day', queue: 'days' });
const ran: string[] = [];

@Handles(nightly)
class NightHandler extends Handler<typeof nightly> {
  async handle(_: unknown, run: Run): Promise<void> {
    ran.push(run.id);
  }
}

@Processor('nights')
class Nights extends KindProcessor {}

describe('Schedules', () => {
  let app: KindApp;
  let schedules: Schedules;

  beforeEach(() => {
    ran.length = 0;
    app = new KindApp();
  });

  afterEach(() => app.stop());

  async function start(providers: Provider[] = []): Promise<INestApplicationContext> {
    const context = await app.start([nightly, moved], providers);
    schedules = context.get(Schedules);
    return context;
  }

  it('make recurring jobs, and know the last one, even when they are replaced', async () => {
    await start([NightHandler, Nights]);

    const { outcome, schedule } = await schedules.put('nightly/build', nightly, { every: '1s' });
    expect([outcome, schedule]).toMatchObject(['created', { state: 'active', every: 1_000, lastAt: null }]);
    await until(() => ran.length === 2, 'it had two turns');
    const cron = { cron: '0 0 4 * * *', timezone: 'Asia/Tokyo' };
    const changed = await schedules.put('nightly/build', nightly, cron);

    expect(queueOfJobId(ran[0]!)).toBe('nights');
    expect(changed).toMatchObject({
      outcome: 'replaced',
      schedule: { id: 'nightly/build', owners: ['site:1'], every: null, ...cron, lastJobId: ran[1] },
    });
    expect(changed.schedule!.nextAt).toMatch(/T19:00:00.000Z$/);
    expect(await schedules.list()).toEqual({
      schedules: [await schedules.get('nightly/build')],
      cursor: null,
    });
    expect([await schedules.remove('nightly/build'), await schedules.remove('nightly/build')]).toEqual([
      true,
      false,
    ]);
    expect(await schedules.get('nightly/build')).toBeUndefined();
  });

  it('end with their owners, and are refused for closed ones', async () => {
    await start();
    await schedules.put('a', nightly, { every: '1h', owners: ['user:7', 'site:1'] });

    await app.owners.cancel('site:1');

    expect(await schedules.get('a')).toBeUndefined();
    await expect(schedules.put('a', nightly, { every: '1h' })).rejects.toMatchObject({
      code: 'OWNER_CLOSED',
    });
  });

  it('are in one queue, even when their kind changes to one of another queue', async () => {
    await start();
    await schedules.put('a', nightly, { every: '1h' });

    const { outcome, schedule } = await schedules.put('a', moved, { every: '2h' });

    expect([outcome, schedule!.kind]).toEqual(['replaced', 'day']);
    expect((await schedules.list()).schedules).toEqual([schedule]);
  });

  it('are listed page by page, over all queues', async () => {
    await start();
    const ids = Array.from({ length: 105 }, (_, i) => `s${i}`);
    await Promise.all(ids.map((id, i) => schedules.put(id, i % 50 === 0 ? moved : nightly, { every: '1h' })));

    const listed: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<Schedules['list']>> = await schedules.list(cursor ?? undefined);
      listed.push(...page.schedules.map(({ id }) => id));
      ({ cursor } = page);
      // The form of the cursor in `GET /v1/schedules`.
      expect(cursor ?? '0').toMatch(/^\d+$/);
    } while (cursor !== null);

    expect(listed.toSorted()).toEqual(ids.toSorted());
  });

  it.each([
    [{}, /either every or cron/],
    [{ every: '500ms' }, /at least 1s/],
    [{ cron: '*'.repeat(1_000) }, /cron has at most 256/],
    [{ cron: 'H 4 * * *' }, /random/],
    [{ cron: '0 0 30 2 *' }, /never due/],
    [{ cron: '99 4 * * *' }, /never due/],
    [{ cron: '0 4 * * *', timezone: 'Mars/Olympus' }, /timezone/],
    [{ every: '1h', timezone: 'UTC' }, /timezone goes with cron/],
    [{ every: '1h', payload: 7 }, /payload/],
    [{ every: '1h', owners: [] }, /one to 4 owners/],
  ])('are refused with %j, and nothing is written', async (wrong, why) => {
    await start();

    await expect(schedules.put('a', nightly, wrong)).rejects.toThrow(why);
    await expect(schedules.put('x'.repeat(201), nightly, { every: '1h' })).rejects.toThrow('200 bytes');
    expect(
      (await app.redis.keys(`${app.prefix}*`)).filter((key) => !/:meta$|~partitions$/.test(key)),
    ).toEqual([]);
  });
});
