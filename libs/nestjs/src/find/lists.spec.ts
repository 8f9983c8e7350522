import 'reflect-metadata';
import '../register.js';
import { Owners, owner } from '#core';
import type { INestApplicationContext } from '@nestjs/common';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { KindApp } from '../../../../test/support/kind-app.js';
import { until } from '../../../../test/support/until.js';
import {
  defineKind,
  Enqueuer,
  Flows,
  FlowTrees,
  Handler,
  Handles,
  JobContents,
  JobReader,
  KindList,
  OwnerFinder,
  WorkerList,
  type EnqueueOptions,
  type OwnerFilter,
  type Payload,
  type PayloadIn,
  type Run,
} from '../index.js';

const pay = defineKind({
  name: 'shop.pay',
  queue: 'shop',
  payload: z.object({ waits: z.boolean().default(false) }).loose(),
  owners: () => [owner('cart', '1')],
  hides: ['card', 'buyer.phone', 'items.secret'],
});

@Handles(pay)
class PayHandler extends Handler<typeof pay> {
  async handle({ waits }: Payload<typeof pay>, { signal, log }: Run): Promise<unknown> {
    log.log('begun');
    log.warn({ left: 2 });
    if (waits && !signal.aborted) await once(signal, 'abort');
    return 1;
  }
}

describe('lists', () => {
  let kit: KindApp;
  let app: INestApplicationContext;

  beforeEach(() => (kit = new KindApp()));
  afterEach(() => kit.stop());

  const enqueue = async (
    owners: string[],
    payload: PayloadIn<typeof pay> = {},
    options: EnqueueOptions = {},
  ): Promise<string> => (await app.get(Enqueuer).enqueue(pay, payload, { owners, ...options })).id;
  const stateOf = async (id: string) => (await app.get(JobReader).read(id))?.state;

  describe('of owners', () => {
    beforeEach(async () => {
      app = await kit.start([pay]);
      for (const each of ['cart:1', 'cart:10', 'cart:11', 'cart:11', 'trip:1', 'trip:a b'])
        await enqueue([each]);
      await app.get(Owners).cancel('cart:2');
    });

    it.each<[OwnerFilter, string[]]>([
      [{}, ['cart:1', 'cart:10', 'cart:11', 'cart:2', 'trip:1', 'trip:a b']],
      [{ type: 'cart' }, ['cart:1', 'cart:10', 'cart:11', 'cart:2']],
      [{ type: 'cart', prefix: '1' }, ['cart:1', 'cart:10', 'cart:11']],
      [{ type: 'cart', prefix: 'cart:11' }, ['cart:11']],
      [{ prefix: 'trip:a ' }, ['trip:a b']],
      [{ state: 'closed' }, ['cart:2']],
      [{ type: 'car' }, []],
    ])('by %o, in pages', async (filter, expected) => {
      const found: string[] = [];
      let cursor: string | null | undefined;
      do {
        const page = await app.get(OwnerFinder).find(filter, { limit: 2, cursor: cursor ?? undefined });
        found.push(...page.owners.map((each) => each.owner));
        cursor = page.cursor;
      } while (cursor !== null);
      expect(found).toEqual(expected);
    });

    it('have counts, and the age of the oldest job', async () => {
      const before = Date.now();
      await until(() => Date.now() - before >= 50, 'time has passed');
      await enqueue(['cart:11']);
      const { owners } = await app.get(OwnerFinder).find({ type: 'cart' });
      expect(owners.slice(2)).toEqual([
        {
          owner: 'cart:11',
          state: 'open',
          counts: { jobs: 3, running: 0 },
          oldestJobMs: expect.any(Number),
          lookedAt: 3,
        },
        { owner: 'cart:2', state: 'closed', counts: { jobs: 0, running: 0 }, oldestJobMs: null, lookedAt: 0 },
      ]);
      expect(owners[2]!.oldestJobMs).toBeGreaterThanOrEqual(50);
    });

    it('look at a hundred jobs of an owner at most', async () => {
      await Promise.all(Array.from({ length: 700 }, () => enqueue(['many:1'])));
      const { owners } = await app.get(OwnerFinder).find({ type: 'many' });
      expect(owners).toMatchObject([{ counts: { jobs: 700 }, lookedAt: expect.any(Number) }]);
      expect(owners[0]!.lookedAt).toBeLessThanOrEqual(100);
    });

    it.each([
      'x',
      '',
      '0',
      Buffer.from('cart').toString('base64url'),
      Buffer.from('a:|').toString('base64url'),
    ])('refuse the cursor "%s"', async (cursor) => {
      await expect(app.get(OwnerFinder).find({}, { cursor })).rejects.toMatchObject({ code: 'INVALID' });
    });
  });

  it('of kinds have their limits and hidden fields', async () => {
    app = await kit.start([pay]);
    expect(app.get(KindList).all()).toMatchObject([
      {
        name: 'shop.pay',
        queue: 'shop',
        attempts: 1,
        timeoutMs: 3_600_000,
        expiresInMs: null,
        keep: { completed: { ageMs: 86_400_000, count: 1_000 } },
        hides: ['card', 'buyer.phone', 'items.secret'],
      },
    ]);
  });

  it('of workers have what they run, and forget one that has ended', async () => {
    app = await kit.startWorker([pay], [PayHandler], { worker: { version: '1.2.3', concurrency: 4 } });
    const workers = () => app.get(WorkerList).all();
    await until(async () => (await workers()).length === 1, 'there is a heartbeat');
    const id = await enqueue(['cart:1'], { waits: true });
    await until(async () => (await stateOf(id)) === 'running', 'it runs');
    const another = await kit.startWorker([pay], [PayHandler]);
    await until(async () => (await workers()).length === 2, 'there are two');

    expect(await workers()).toMatchObject([
      {
        host: expect.any(String),
        pid: process.pid,
        version: '1.2.3',
        state: 'running',
        heartbeatAt: expect.any(String),
        queues: [{ queue: 'shop', concurrency: 4, kinds: ['shop.pay'] }],
      },
      { version: null },
    ]);
    const [key] = await kit.redis.keys(`${kit.prefix}~worker~*`);
    expect(await kit.redis.pttl(key!)).toBeGreaterThan(0);
    await another.close();
    expect(await workers()).toHaveLength(1);
    await kit.redis.del(await kit.redis.keys(`${kit.prefix}~worker~*`));
    expect(await workers()).toEqual([]);
    await kit.owners.cancel('cart:1', { wait: 'drained' });
  });

  it('of a flow are its tree with states, also of jobs that were removed', async () => {
    app = await kit.start([pay]);
    const children = [
      { kind: pay, payload: {}, children: [{ kind: pay, payload: {} }] },
      { kind: pay, payload: {}, owners: ['cart:9'] },
    ];
    const ticket = await app
      .get(Flows)
      .add({ kind: pay, payload: {}, owners: ['cart:1'], onChildFailure: 'ignore', children });
    await app.get(Owners).cancel('cart:9');
    const [first, second] = ticket.children;
    const leaf = { id: first!.children[0]!.id, kind: 'shop.pay', queue: 'shop', owners: ['cart:1'] };

    const tree = await app.get(FlowTrees).read(ticket.id);

    expect(tree).toMatchObject({
      id: ticket.id,
      parent: null,
      state: 'waiting',
      children: [
        { id: first!.id, state: 'waiting', children: [{ ...leaf, state: 'waiting', children: [] }] },
        { id: second!.id, state: 'removed', owners: ['cart:9'], children: [] },
      ],
    });
    expect(await app.get(FlowTrees).read(leaf.id)).toMatchObject({
      ...leaf,
      parent: first!.id,
      children: [],
    });
    expect(await app.get(FlowTrees).read('shop-00000000000000000000')).toBeUndefined();
    await app.get(Owners).cancel('cart:1');
  });

  it('of what a job was asked for hide what its kind hides', async () => {
    app = await kit.startWorker([pay], [PayHandler]);
    const asked = {
      card: { number: '4111' },
      buyer: { name: 'Ann', phone: '1' },
      items: [{ id: 1, secret: 'x' }, { id: 2 }, 3],
      note: null,
    };
    const id = await enqueue(['cart:1'], asked);
    await until(async () => (await stateOf(id)) === 'completed', 'it has completed');
    const contents = app.get(JobContents);

    expect(await contents.payload(id)).toEqual({
      id,
      kind: 'shop.pay',
      payload: {
        card: '[hidden]',
        buyer: { name: 'Ann', phone: '[hidden]' },
        items: [{ id: 1, secret: '[hidden]' }, { id: 2 }, 3],
        note: null,
      },
    });
    await until(async () => (await contents.lines(id))!.lines.length === 2, 'its log is there');
    expect(await contents.lines(id)).toMatchObject({
      id,
      lines: [
        { at: expect.any(String), level: 'info', text: 'begun' },
        { level: 'warn', text: '{"left":2}' },
      ],
    });
    expect(await contents.payload('shop-00000000000000000000')).toBeUndefined();
    expect(await contents.lines('shop-00000000000000000000')).toBeUndefined();
  });

  it('show nothing of a job of a queue of kinds whose kind is not known', async () => {
    app = await kit.start([pay]);
    const id = await enqueue(['cart:1'], { card: '4111' });
    await kit.redis.hset(`${kit.prefix}:shop:${id}`, 'name', 'shop.older');
    expect(await app.get(JobContents).payload(id)).toEqual({ id, kind: 'shop.older', payload: '[hidden]' });
  });
});
