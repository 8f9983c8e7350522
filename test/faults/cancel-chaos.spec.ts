import { Canceller, defineKind, Enqueuer, Flows, Handler, Handles, owner, type Run } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { LifecycleApp } from '../support/lifecycle-app.js';
import { seededRandom } from '../support/random.js';
import { slowGate } from '../support/slow-gate.js';
import { TestStore } from '../support/store.js';

const TRIALS = 200;
const AT_ONCE = 50;
/** How long starts are looked for after a cancel has answered. */
const OBSERVE_MS = 900;
const WORKERS = { concurrency: 100, lockMs: 10_000 };

const payload = z.object({ ms: z.number().default(0), fails: z.boolean().default(false) });
const near = defineKind({
  name: 'near',
  queue: 'near',
  payload,
  attempts: 3,
  backoff: { type: 'fixed', delay: '150ms' },
});
const far = defineKind({ name: 'far', queue: 'far', payload });

interface Start {
  readonly id: string;
  readonly at: number;
}

/** I1, I6: many owners are cancelled while their jobs run, fail, come due and wait for each other. */
describe('cancels in the middle of everything', () => {
  let store: TestStore;
  let apps: LifecycleApp[];
  let starts: Start[];
  let random: () => number;
  beforeEach(async () => {
    store = await TestStore.start();
    const seed = Date.now() % 1_000_000;
    console.log(`seed ${seed}`);
    random = seededRandom(seed);
    starts = [];
    const prefix = `test-${randomBytes(6).toString('hex')}`;
    apps = [];
    for (let i = 0; i < 2; i += 1)
      apps.push(await LifecycleApp.start([near, far], handlers(starts), WORKERS, store.url, prefix));
  });
  afterEach(async () => {
    await apps[1]!.context.close();
    await apps[1]!.redis.quit();
    await apps[0]!.stop();
    await store.stop();
  });

  it('let nothing start late', async () => {
    for (const { redis } of apps) slowGate(redis, gatePauseMs);
    expect(await lateStarts()).toEqual([]);
    expect(starts.length).toBeGreaterThan(TRIALS / 40);
  });

  it('let much start late when the gate does not compare epochs', async () => {
    for (const { redis } of apps) slowGate(redis, gatePauseMs, false);
    const late = await lateStarts();
    console.log(`${late.length} of ${starts.length} starts were late.`);
    expect(late.length).toBeGreaterThan(0);
  });

  /** Of all trials: the jobs that started after the cancel of their owner had answered. */
  async function lateStarts(): Promise<string[]> {
    const late: string[] = [];
    for (let first = 0; first < TRIALS; first += AT_ONCE) {
      const wave = Array.from({ length: AT_ONCE }, (_, i) => trial(`${first + i}`));
      late.push(...(await Promise.all(wave)).flat());
    }
    return late;
  }

  async function trial(name: string): Promise<string[]> {
    const app = apps[Math.floor(random() * 2)]!;
    const owners = [owner('trip', name)];
    const dedup = { strategy: 'coalesce', key: 'k' } as const;
    const enqueue = async (kind: typeof near, body: object, more: object = {}): Promise<string> =>
      (await app.context.get(Enqueuer).enqueue(kind, body, { owners, ...more })).id;
    const ids = await Promise.all([
      enqueue(near, { ms: between(300, 600) }),
      enqueue(near, { fails: true }),
      enqueue(far, {}, { delay: between(50, 350) }),
      enqueue(far, { ms: 250 }, { dedup }),
    ]);
    // A parent is let go when its children end; that they were removed must not let it go.
    const child = (): { kind: typeof near; payload: object } => ({
      kind: near,
      payload: { ms: between(100, 400) },
    });
    const flow = await app.context
      .get(Flows)
      .add({ kind: far, owners, payload: {}, children: [child(), child()] });
    ids.push(flow.id, ...flow.children.map(({ id }) => id));
    await pause(between(30, 180));
    ids.push(await enqueue(far, { ms: 250 }, { dedup }));
    await pause(between(0, 60));
    if (random() < 0.5) await cutListeners();
    await app.context.get(Canceller).cancel(owners[0]!, { close: false });
    const answeredAt = performance.now();
    await pause(OBSERVE_MS);
    return starts.filter(({ id, at }) => at > answeredAt && ids.includes(id)).map(({ id }) => id);
  }

  /** Cuts the connections by which the workers hear of cancels. */
  async function cutListeners(): Promise<void> {
    const { redis } = apps[0]!;
    const clients = (await redis.client('LIST')) as string;
    for (const line of clients.split('\n')) {
      const id = /\bid=(\d+) .*\bcmd=xread\b/.exec(line)?.[1];
      if (id) await redis.client('KILL', 'ID', id);
    }
  }

  /** Most come through at once. */
  function gatePauseMs(): number {
    return random() < 0.7 ? 0 : between(0, 150);
  }

  function between(least: number, most: number): number {
    return Math.floor(least + random() * (most - least));
  }
});

function handlers(starts: Start[]): (new () => Handler)[] {
  const handle = async ({ ms, fails }: z.output<typeof payload>, run: Run): Promise<string> => {
    starts.push({ id: run.id, at: performance.now() });
    await pause(ms, undefined, { signal: run.signal });
    if (fails && run.attempt === 1) throw new Error('not yet');
    return 'done';
  };
  @Injectable()
  @Handles(near)
  class NearHandler extends Handler<typeof near> {
    handle = handle;
  }
  @Injectable()
  @Handles(far)
  class FarHandler extends Handler<typeof far> {
    handle = handle;
  }
  return [NearHandler, FarHandler];
}
