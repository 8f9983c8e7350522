import { defineKind, Enqueuer, Flows, Handler, Handles, type Run } from '#nestjs';
import { Owners, owner } from '#core';
import { Injectable, type INestApplicationContext } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { KindApp } from '../support/kind-app.js';
import { seededRandom } from '../support/random.js';
import { TestStore } from '../support/store.js';

const TRIALS = 200;
const AT_ONCE = 50;
/** How long after a cancel has answered the test watches for starts. */
const OBSERVE_MS = 1_200;
/** A run that the store began before the cancel reaches its handler within this time, even on a busy machine. */
const BEGINS_WITHIN_MS = 300;
const WORKERS = { concurrency: 100, lockDuration: 10_000 };

const payload = z.object({ ms: z.number().default(0), fails: z.boolean().default(false) });
const near = defineKind({
  name: 'near',
  queue: 'near',
  payload,
  attempts: 3,
  backoff: { type: 'fixed', delay: '500ms' },
});
const far = defineKind({ name: 'far', queue: 'far', payload });

interface Start {
  readonly id: string;
  readonly at: number;
}

/** I1, I6: many owners are cancelled while their jobs run, fail, become due and wait for each other. */
describe('cancels at random moments', () => {
  let store: TestStore;
  let app: KindApp;
  let contexts: INestApplicationContext[];
  let starts: Start[];
  let random: () => number;
  beforeEach(async () => {
    store = await TestStore.start();
    const seed = Date.now() % 1_000_000;
    console.log(`seed ${seed}`);
    random = seededRandom(seed);
    starts = [];
    app = new KindApp(store.url);
    contexts = [];
    for (let i = 0; i < 2; i += 1)
      contexts.push(await app.startWorker([near, far], handlers(starts), { worker: WORKERS }));
  });
  afterEach(async () => {
    await app.untilNothingIsLeft();
    await app.stop();
    await store.stop();
  });

  it('let no job start late', async () => {
    expect(await lateStarts()).toEqual([]);
    expect(starts.length).toBeGreaterThan(TRIALS / 40);
  });

  /** The jobs of all trials that started after the cancel of their owner had answered. */
  async function lateStarts(): Promise<string[]> {
    const late: string[] = [];
    for (let first = 0; first < TRIALS; first += AT_ONCE) {
      const wave = Array.from({ length: AT_ONCE }, (_, i) => trial(`${first + i}`));
      late.push(...(await Promise.all(wave)).flat());
    }
    return late;
  }

  async function trial(name: string): Promise<string[]> {
    const context = contexts[Math.floor(random() * 2)]!;
    const owners = [owner('trip', name)];
    const dedup = { strategy: 'coalesce', key: 'k' } as const;
    const enqueue = async (kind: typeof near, body: object, more: object = {}): Promise<string> =>
      (await context.get(Enqueuer).enqueue(kind, body, { owners, ...more })).id;
    const ids = await Promise.all([
      enqueue(near, { ms: between(300, 600) }),
      enqueue(near, { fails: true }),
      enqueue(far, {}, { delay: between(50, 900) }),
      enqueue(far, { ms: 250 }, { dedup }),
    ]);
    // A parent becomes ready when its children end, but not when they are removed.
    const child = (): { kind: typeof near; payload: object } => ({
      kind: near,
      payload: { ms: between(100, 400) },
    });
    const flow = await context
      .get(Flows)
      .add({ kind: far, owners, payload: {}, children: [child(), child()] });
    ids.push(flow.id, ...flow.children.map(({ id }) => id));
    await pause(between(30, 180));
    ids.push(await enqueue(far, { ms: 250 }, { dedup }));
    await pause(between(0, 60));
    if (random() < 0.5) await cutListeners();
    await context.get(Owners).cancel(owners[0]!, { close: false });
    const answeredAt = performance.now();
    await pause(OBSERVE_MS);
    return starts
      .filter(({ id, at }) => at > answeredAt + BEGINS_WITHIN_MS && ids.includes(id))
      .map(({ id }) => id);
  }

  /** Cuts the connections on which the workers receive cancels. */
  async function cutListeners(): Promise<void> {
    const { redis } = app;
    const clients = (await redis.client('LIST')) as string;
    for (const line of clients.split('\n')) {
      const id = /\bid=(\d+) .*\bcmd=xread\b/.exec(line)?.[1];
      if (id) await redis.client('KILL', 'ID', id);
    }
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
