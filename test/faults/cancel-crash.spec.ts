import { owner, Owners, type Receipt } from '#core';
import {
  defineKind,
  Enqueuer,
  Flows,
  Handler,
  Handles,
  JobReader,
  Schedules,
  type EnqueueOptions,
  type Kind,
  type Run,
} from '#nestjs';
import { Injectable, type INestApplicationContext } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { crashPoints, fewestCommands } from '../support/crash-points.js';
import { CrashingProcess, type Done } from '../support/crashing-process.js';
import { KindApp } from '../support/kind-app.js';
import { seededRandom } from '../support/random.js';
import { until } from '../support/until.js';

/** How many of the commands the test kills at, before or after each. */
const SAMPLED = 8;
const AT_ONCE = 6;

const parked = defineKind({ name: 'parked', queue: 'parked', payload: z.object({}) });
const busy = defineKind({
  name: 'busy',
  queue: 'busy',
  payload: z.object({ fails: z.boolean().default(false) }),
  attempts: 2,
  backoff: { type: 'fixed', delay: '1h' },
});

/**
 * I7: a process is killed at any step of a cancel. If the cancel was recorded, another process finishes it; if not,
 * nothing is cancelled.
 */
describe('kill -9 of a process that cancels', () => {
  let app: KindApp;
  let context: INestApplicationContext;
  let trials = 0;
  const begun: string[] = [];

  @Injectable()
  @Handles(busy)
  class BusyHandler extends Handler<typeof busy> {
    async handle({ fails }: { fails: boolean }, run: Run): Promise<never> {
      begun.push(run.id);
      if (fails) throw new Error('not yet');
      return new Promise((_, reject) =>
        run.signal.addEventListener('abort', () => reject(new Error('told'))),
      );
    }
  }

  beforeAll(async () => {
    // A long lease, so that it does not expire only because the machine is busy.
    const worker = { kinds: ['busy'], concurrency: 50, lockDuration: 10_000 };
    const every = {
      orphans: false,
      retention: false,
      expiry: false,
      artifacts: false,
      repair: false,
    } as const;
    app = new KindApp();
    context = await app.startWorker([parked, busy], [BusyHandler], {
      worker,
      sweeps: { resumeEvery: 200, every },
    });
  });
  afterAll(async () => {
    await app.untilNothingIsLeft();
    await app.stop();
  });

  it('at any command leaves nothing that another process does not finish', async () => {
    const commands = await fewestCommands(async () => (await trial('before:#0'))!.commands);
    const seed = Date.now() % 1_000_000;
    console.log(`A cancel sends ${commands} commands; seed ${seed}.`);
    const points = crashPoints(commands, SAMPLED, seededRandom(seed));
    const { length: tried } = points;
    const ends = { killed: 0, lived: 0 };
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let point = points.shift(); point; point = points.shift()) {
          const wasKilled = await trial(point).then(
            (done) => done === undefined,
            (error: unknown) => {
              throw new Error(`Killed ${point}`, { cause: error });
            },
          );
          ends[wasKilled ? 'killed' : 'lived'] += 1;
        }
      }),
    );
    expect(ends.killed).toBeGreaterThan(tried / 2);
  }, 300_000);

  /** Populates one owner with jobs in every state and cancels it from a process that is killed at `point`. */
  async function trial(point: string): Promise<Done | undefined> {
    const n = (trials += 1);
    const process = CrashingProcess.start(app, point);
    const { ids, bystander } = await populate(n);
    const cancelId = `c-${n}`;
    const options = { reason: 'called off', by: 'test', cancelId, wait: 'drained', waitFor: '20s' } as const;
    const { done } = await process.obey({ cancel: { owner: `trip:${n}`, options } });

    if ((await receiptOf(cancelId)) === undefined) {
      expect(done).toBe(undefined);
      for (const id of ids) expect((await view(id)).state).not.toMatch(/removed|cancelled/);
      await context.get(Owners).cancel(`trip:${n}`, options);
    }
    const receipt = await until(async () => {
      const found = await receiptOf(cancelId);
      return found?.done && found;
    }, `the receipt of ${point} is done`);
    await expectNothingLeft(n, ids, receipt);

    expect((await view(bystander)).state).toBe('waiting');
    const again = await context.get(Owners).cancel(`trip:${n}`, options);
    expect(again).toEqual(receipt);
    await context.get(Owners).cancel(`site:${n}`);
    return done;
  }

  async function populate(n: number): Promise<{ ids: string[]; bystander: string }> {
    const [trip, site] = [owner('trip', `${n}`), owner('site', `${n}`)];
    const owners = [trip];
    const slot = { key: `driver:${n}`, limit: 1 };
    const dedup = { strategy: 'coalesce', key: 'k' } as const;
    const running = await enqueue(busy, {}, { owners, slot });
    await until(async () => (await view(running)).state === 'running', 'one runs');
    const ids = [
      running,
      await enqueue(busy, {}, { owners, slot }),
      await enqueue(busy, { fails: true }, { owners }),
      await enqueue(parked, {}, { owners }),
      await enqueue(parked, {}, { owners, delay: '1h' }),
      await enqueue(parked, {}, { owners, dedup }),
      await enqueue(parked, {}, { owners: [trip, site] }),
      await enqueue(parked, {}, { owners: [site, trip], dedup }),
    ];
    expect(await enqueue(parked, {}, { owners, dedup })).toBe(ids[5]);
    const child = { kind: parked, payload: {} };
    const flow = await context.get(Flows).add({ ...child, owners, children: [child, child] });
    ids.push(flow.id, ...flow.children.map(({ id }) => id));
    await context.get(Schedules).put(`nightly-${n}`, parked, { owners, payload: {}, every: '1h' });
    const bystander = await enqueue(parked, {}, { owners: [site] });
    await until(
      async () => (await view(ids[1]!)).state === 'delayed' && (await view(ids[2]!)).attempts === 1,
      'one waits for its slot, and one for its next attempt',
    );
    return { ids, bystander };
  }

  async function expectNothingLeft(n: number, ids: readonly string[], receipt: Receipt): Promise<void> {
    const { removed, aborted, acknowledged, abandoned } = receipt;
    expect({ aborted, acknowledged, abandoned }).toEqual({ aborted: 1, acknowledged: 1, abandoned: 0 });
    expect(receipt.schedules).toBe(1);
    expect(await context.get(Schedules).get(`nightly-${n}`)).toBe(undefined);
    // The job of the schedule is removed as well.
    expect(removed + aborted).toBeLessThanOrEqual(ids.length + 1);
    for (const id of ids) expect((await view(id)).state).toMatch(/removed|cancelled/);
    expect(ids.map((id) => begun.filter((one) => one === id).length)).toEqual([
      1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0,
    ]);

    const record = `${app.prefix}~owner~trip:${n}`;
    expect((await app.redis.hkeys(record)).filter((field) => field.includes(':'))).toEqual([]);
    expect(await app.redis.exists(`${app.prefix}~pending~trip:${n}`)).toBe(0);
    expect(await app.redis.zrange(`${app.prefix}~cancels`, '0', '-1')).not.toContain(receipt.cancelId);
    const jobsOfSite = await app.redis.hkeys(`${app.prefix}~owner~site:${n}`);
    expect(jobsOfSite.filter((field) => ids.some((id) => field.endsWith(`:${id}`)))).toEqual([]);
  }

  function receiptOf(cancelId: string): Promise<Receipt | undefined> {
    return context.get(Owners).receipt(cancelId);
  }

  async function view(id: string): Promise<{ state: string; attempts: number }> {
    return (await context.get(JobReader).read(id))!;
  }

  async function enqueue(kind: Kind, payload: object, options: EnqueueOptions): Promise<string> {
    return (await context.get(Enqueuer).enqueue(kind, payload, options)).id;
  }
});
