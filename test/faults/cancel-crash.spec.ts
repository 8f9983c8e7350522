import {
  Canceller,
  CleanUps,
  defineKind,
  Enqueuer,
  Flows,
  Handler,
  Handles,
  JobReader,
  owner,
  Removals,
  Schedules,
  type EnqueueOptions,
  type Kind,
  type Receipt,
  type Run,
} from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CancellingProcess, type Cancelled } from '../support/canceller.js';
import { recordOf } from '../support/cancel-door.js';
import { LifecycleApp } from '../support/lifecycle-app.js';
import { seededRandom } from '../support/random.js';
import { until } from '../support/until.js';

const SCRIPTS = [
  'intent',
  'cancel',
  'tell',
  'along',
  'strike',
  'unmoor',
  'remember',
  'take',
  'drop',
  'finish',
];
/** Of the commands: each of the first ones, and of the others some. */
const FIRST = 40;
const SOME = 10;
const AT_ONCE = 6;
const CLEAN_UP_EVERY_MS = 200;

const parked = defineKind({ name: 'parked', queue: 'parked', payload: z.object({}) });
const busy = defineKind({
  name: 'busy',
  queue: 'busy',
  payload: z.object({ fails: z.boolean().default(false) }),
  attempts: 2,
  backoff: { type: 'fixed', delay: '1h' },
});

/** I7: whoever cancels dies at any step; what it began is brought to its end by another, and what it did not, is not. */
describe('kill -9 of who cancels', () => {
  let app: LifecycleApp;
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
    // A long lease: it is not to end because the machine is busy.
    const worker = { kinds: ['busy'], concurrency: 50, lockMs: 10_000 };
    app = await LifecycleApp.start([parked, busy], [BusyHandler], worker, undefined, undefined, {
      cleanUpEveryMs: CLEAN_UP_EVERY_MS,
      tickEveryMs: 1_000,
    });
  });
  afterAll(() => app.stop());

  it('at every command leaves nothing that another does not finish', async () => {
    const { answer } = await trial('before:#0');
    const { commands } = answer!;
    const seed = Date.now() % 1_000_000;
    console.log(`A cancel sends ${commands} commands; seed ${seed}.`);
    const random = seededRandom(seed);
    const numbers = Array.from({ length: Math.min(FIRST, commands) }, (_, i) => i + 1);
    for (let i = 0; i < SOME && commands > FIRST; i += 1)
      numbers.push(FIRST + 1 + Math.floor(random() * (commands - FIRST)));
    const points = [
      ...SCRIPTS.flatMap((script) => [`before:${script}`, `after:${script}`]),
      ...numbers.map((n) => `${random() < 0.5 ? 'before' : 'after'}:#${n}`),
    ];
    const ends = { killed: 0, lived: 0 };
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let point = points.shift(); point; point = points.shift()) {
          const wasKilled = await trial(point).then(
            ({ answer: said }) => said === undefined,
            (error: unknown) => {
              throw new Error(`Killed ${point}`, { cause: error });
            },
          );
          ends[wasKilled ? 'killed' : 'lived'] += 1;
        }
      }),
    );
    expect(ends.killed).toBeGreaterThan(ends.lived * 5);
    await until(
      async () => !(await app.redis.exists(`${app.prefix}:{schedules}`)),
      'what was left of schedules is taken back',
      60_000,
    );
  }, 300_000);

  it('is not assumed of one whose clean-up takes long: nobody else takes that up', async () => {
    const of = { cleanUpEveryMs: 1_000, storeTimeoutMs: 10_000 };
    const worker = { kinds: ['busy'] };
    const slow = await LifecycleApp.start([busy], [BusyHandler], worker, app.storeUrl, app.prefix, of);
    const hscan = slow.redis.hscan.bind(slow.redis) as (...args: unknown[]) => Promise<unknown>;
    slow.redis.hscan = (async (...args: unknown[]) => {
      await pause(3_500);
      return hscan(...args);
    }) as never;
    await enqueue(parked, {}, { owners: [owner('trip', 'slow')] });
    const taken: number[] = [];
    let receipt: Receipt | undefined;
    void slow.context
      .get(Canceller)
      .cancel(owner('trip', 'slow'), { wait: 'drained' })
      .then((answer) => (receipt = answer));
    await until(async () => {
      taken.push(await app.context.get(CleanUps).resume());
      return receipt;
    }, 'it is done');
    expect(receipt).toMatchObject({ removed: 1, done: true });
    expect(taken.length).toBeGreaterThan(10);
    expect(taken.filter((count) => count > 0)).toEqual([]);
    await slow.context.close();
    await slow.redis.quit();
  });

  /** One owner with jobs in every state, and its cancel by a process that is killed at a point. */
  async function trial(point: string): Promise<{ answer: Cancelled | undefined }> {
    const n = (trials += 1);
    const process = new CancellingProcess(app.storeUrl, app.prefix, point, CLEAN_UP_EVERY_MS);
    const { ids, bystander } = await populate(n);
    await process.untilReady();
    const cancelId = `c-${n}`;
    const order = { reason: 'called off', by: 'test', cancelId, wait: 'drained', waitFor: '20s' } as const;
    const { exit, answer } = await process.cancel(`trip:${n}`, order);
    expect([exit.code === 0, exit.signal === 'SIGKILL']).toContain(true);

    if ((await receiptOf(cancelId)) === undefined) {
      expect(answer).toBe(undefined);
      for (const id of ids) expect((await view(id)).state).not.toMatch(/removed|cancelled/);
      await app.context.get(Canceller).cancel(owner('trip', `${n}`), order);
    }
    const receipt = await until(async () => {
      const found = await receiptOf(cancelId);
      return found?.done && found;
    }, `the receipt of ${point} is done`);
    await expectNothingLeft(n, ids, receipt);

    expect((await view(bystander)).state).toBe('waiting');
    const again = await app.context.get(Canceller).cancel(owner('trip', `${n}`), order);
    expect(again).toEqual(receipt);
    await app.context.get(Canceller).cancel(owner('site', `${n}`));
    return { answer };
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
    const flow = await app.context.get(Flows).add({ ...child, owners, children: [child, child] });
    ids.push(flow.id, ...flow.children.map(({ id }) => id));
    await app.context.get(Schedules).put(`nightly-${n}`, parked, { owners, payload: {}, every: '1h' });
    const bystander = await enqueue(parked, {}, { owners: [site] });
    await until(
      async () => (await view(ids[1]!)).state === 'delayed' && (await view(ids[2]!)).attempts === 1,
      'one waits for its slot, and one for its next attempt',
    );
    return { ids, bystander };
  }

  async function expectNothingLeft(n: number, ids: readonly string[], receipt: Receipt): Promise<void> {
    const { removed, aborted, acknowledged, running } = receipt;
    expect({ aborted, acknowledged, running }).toEqual({ aborted: 1, acknowledged: 1, running: 0 });
    expect(receipt.schedules).toBe(1);
    expect(await app.context.get(Schedules).read(`nightly-${n}`)).toBe(undefined);
    const { entries } = await app.context.get(Removals).ofOwner(owner('trip', `${n}`));
    expect(entries.filter(({ state }) => state === 'schedule')).toHaveLength(1);
    expect(removed + aborted).toBeLessThanOrEqual(ids.length);
    for (const id of ids) expect((await view(id)).state).toMatch(/removed|cancelled/);
    expect(ids.map((id) => begun.filter((one) => one === id).length)).toEqual([
      1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0,
    ]);

    const record = recordOf(app.prefix, `trip:${n}`);
    expect((await app.redis.hkeys(record)).filter((field) => field.startsWith('j'))).toEqual([]);
    const keys = ['runs', 'dedup', 'late', 'done', 'cancels', 'schedules'].map((key) => `${record}:${key}`);
    await until(async () => (await app.redis.exists(...keys)) === 0, 'nothing is left beside the record');
    const jobsOfSite = (await app.redis.hkeys(recordOf(app.prefix, `site:${n}`))).filter((field) =>
      ids.includes(field.slice(1)),
    );
    expect(jobsOfSite).toEqual([]);
  }

  function receiptOf(cancelId: string): Promise<Receipt | undefined> {
    return app.context.get(Canceller).receipt(cancelId);
  }

  async function view(id: string): Promise<{ state: string; attempts: number }> {
    return (await app.context.get(JobReader).read(id))!;
  }

  async function enqueue(kind: Kind, payload: object, options: EnqueueOptions): Promise<string> {
    return (await app.context.get(Enqueuer).enqueue(kind, payload, options)).id;
  }
});
