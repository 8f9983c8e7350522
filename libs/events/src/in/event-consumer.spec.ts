import { parseOwner } from '#core';
import { OwnerReader, StoreUnavailableError } from '#nestjs';
import type { INestApplicationContext, Provider } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { KindApp } from '../../../../test/support/kind-app.js';
import { Proxy } from '../../../../test/support/proxy.js';
import { TestStore } from '../../../../test/support/store.js';
import { until } from '../../../../test/support/until.js';
import { EventMapping, type EventRule } from '../event-mapping.js';
import type { EventFact } from '../facts.js';
import { Intake } from '../intake.js';
import { EventOptions } from '../options.js';
import { EventConsumer } from './event-consumer.js';
import { InboundEventStream } from './inbound-event-stream.js';

const CANCELS: EventRule = { type: 'trip.cancelled', owner: 'trip:{subject}' };
const GROUP = 'mooring';

interface App {
  readonly redis: Redis;
  readonly prefix: string;
  readonly context: INestApplicationContext;
}

function anEvent(more: object = {}): string {
  return JSON.stringify({ specversion: '1.0', id: 'e-1', source: '/trips', type: 'trip.cancelled', ...more });
}

describe('EventConsumer', () => {
  let facts: EventFact[];
  let kits: KindApp[];

  beforeEach(() => {
    facts = [];
    kits = [];
  });

  afterEach(stopAll);

  async function stopAll(): Promise<void> {
    for (const kit of kits.splice(0)) {
      try {
        await kit.untilNothingIsLeft();
      } finally {
        await kit.stop();
      }
    }
  }

  async function start(
    { rules = [CANCELS], ...more }: { rules?: EventRule[]; takeOverMs?: number; forgetMs?: number } = {},
    storeUrl?: string,
  ): Promise<App> {
    const { redis, prefix } = kitOn(storeUrl);
    const options: EventOptions = {
      mapping: new EventMapping(rules),
      stream: { redis, prefix },
      listeners: [(fact) => facts.push(fact)],
      takeOverMs: 100,
      ...more,
    };
    const providers: Provider[] = [
      { provide: EventOptions, useValue: options },
      Intake,
      InboundEventStream,
      EventConsumer,
    ];
    return { redis, prefix, context: await kits[0]!.start([], providers) };
  }

  function kitOn(storeUrl?: string): KindApp {
    if (kits.length === 0) kits.push(new KindApp(storeUrl));
    return kits[0]!;
  }

  const keyOf = ({ prefix }: App, name = 'in'): string => `${prefix}:events:${name}`;
  const add = (app: App, event: string): Promise<string | null> =>
    app.redis.xadd(keyOf(app), '*', 'event', event);
  const taken = (): EventFact[] => facts.filter(({ event }) => event === 'event.taken');
  const pending = async (app: App): Promise<number> =>
    ((await app.redis.xpending(keyOf(app), GROUP)) as [number])[0];
  const consumers = async (app: App): Promise<unknown[]> =>
    ((await app.redis.xinfo('CONSUMERS', keyOf(app), GROUP)) as unknown[][]).map((fields) => fields[1]);
  const stateOf = async (app: App, owner: string): Promise<string> =>
    (await app.context.get(OwnerReader).read(parseOwner(owner))).state;
  const untilTrimmed = (app: App): Promise<true> =>
    until(async () => (await app.redis.xlen(keyOf(app))) === 0, 'acknowledged entries have left the stream');

  /** Reads an entry like a process that is killed before it processes it. */
  async function readAndDie(app: App, consumer: string): Promise<void> {
    await app.redis.xreadgroup('GROUP', GROUP, consumer, 'COUNT', 1, 'STREAMS', keyOf(app), '>');
  }

  async function withoutConsumer(): Promise<App> {
    const { redis, prefix } = kitOn();
    return { redis, prefix, context: await kits[0]!.start([]) };
  }

  /** The stream and its group exist, but no consumer runs. */
  async function withoutReader(): Promise<App> {
    const app = await withoutConsumer();
    await app.redis.xgroup('CREATE', keyOf(app), GROUP, '0', 'MKSTREAM');
    return app;
  }

  it('processes events and removes acknowledged entries', async () => {
    const app = await start();
    await add(app, anEvent({ subject: '1' }));
    await add(app, anEvent({ id: 'e-2', type: 'trip.seen' }));
    await untilTrimmed(app);
    expect(taken()).toHaveLength(2);
    expect(taken()).toContainEqual(
      expect.objectContaining({ id: 'e-1', outcome: 'cancelled', owner: 'trip:1' }),
    );
    expect(taken()).toContainEqual(expect.objectContaining({ id: 'e-2', outcome: 'ignored' }));
    expect(await stateOf(app, 'trip:1')).toBe('closed');
  });

  it.each<[string, (event: string) => string[]]>([
    ['in its only field, whatever its name', (event) => ['data', event]],
    ['in the field "event" next to others', (event) => ['data', '{}', 'event', event]],
  ])('processes an event %s', async (_where, fields) => {
    const app = await start();
    await app.redis.xadd(keyOf(app), '*', ...fields(anEvent({ subject: '1' })));
    await untilTrimmed(app);
    expect(taken()).toEqual([expect.objectContaining({ id: 'e-1', outcome: 'cancelled', owner: 'trip:1' })]);
  });

  it('processes events that arrived before the first consumer', async () => {
    const before = await withoutConsumer();
    await add(before, anEvent({ subject: '1' }));
    await start();
    await until(() => taken().length === 1, 'it is accepted');
  });

  it('treats a repeated event as the same cancellation', async () => {
    const app = await start();
    await Promise.all([add(app, anEvent({ subject: '1' })), add(app, anEvent({ subject: '1' }))]);
    await until(() => taken().length === 2, 'both are taken');
    const [first, second] = taken() as { cancelId?: string }[];
    expect(first!.cancelId).toMatch(/^event:/);
    expect(second!.cancelId).toBe(first!.cancelId);
  });

  it.each<[string, (app: App) => Promise<unknown>, string, RegExp]>([
    ['is not JSON', (app) => add(app, '{'), '{', /not JSON/],
    ['is not a CloudEvent', (app) => add(app, '{}'), '{}', /id is missing/],
    ['lacks what its rule needs', (app) => add(app, anEvent()), anEvent(), /subject is missing/],
    [
      'has several fields, none of them an event',
      (app) => app.redis.xadd(keyOf(app), '*', 'x', 'y', 'z', anEvent({ subject: '1' })),
      JSON.stringify(['x', 'y', 'z', anEvent({ subject: '1' })]),
      /none is "event"/,
    ],
    [
      'has one field that is not an event',
      (app) => app.redis.xadd(keyOf(app), '*', 'x', 'y'),
      'y',
      /not JSON/,
    ],
  ])('dead-letters an entry that %s', async (_what, put, event, reason) => {
    const app = await start();
    const id = await put(app);
    await untilTrimmed(app);
    const dead = await app.redis.xrange(keyOf(app, 'dead'), '-', '+');
    const fields = ['event', event, 'entry', id, 'reason', expect.stringMatching(reason)];
    expect(dead).toEqual([[expect.any(String), fields]]);
    expect(facts).toEqual([{ event: 'event.dead', entry: id, why: expect.stringMatching(reason) }]);
  });

  it('tries an event five times and processes others in between', async () => {
    let tries = 0;
    const broken: EventRule = {
      type: 'broken',
      owner: () => {
        tries += 1;
        throw new Error(`broken ${tries}`);
      },
    };
    const app = await start({ rules: [broken, CANCELS] });
    await add(app, anEvent({ type: 'broken' }));
    await until(() => tries === 1, 'it was tried');
    await add(app, anEvent({ id: 'e-2', subject: '1' }));
    await untilTrimmed(app);
    expect(facts.map(({ event }) => event)).toEqual(['event.taken', 'event.dead']);
    const [[, fields]] = (await app.redis.xrange(keyOf(app, 'dead'), '-', '+')) as [[string, string[]]];
    expect([tries, fields.at(-1)]).toEqual([5, 'broken 5']);
  });

  it('does not count a try when the store is unavailable', async () => {
    let tries = 0;
    const late: EventRule = {
      type: 'trip.cancelled',
      owner: ({ subject }) => {
        tries += 1;
        if (tries <= 6) throw new StoreUnavailableError('Away.');
        return parseOwner(`trip:${subject}`);
      },
    };
    const app = await start({ rules: [late] });
    const id = (await add(app, anEvent({ subject: '1' })))!;
    await until(() => tries === 3, 'it was tried again');
    const [[, , , begun]] = (await app.redis.xpending(keyOf(app), GROUP, id, id, 1)) as [unknown[]];
    expect(begun).toBe(1);
    await untilTrimmed(app);
    expect(facts.map(({ event }) => event)).toEqual(['events.trouble', 'event.taken']);
    expect(await app.redis.exists(keyOf(app, 'dead'))).toBe(0);
  });

  it('takes over the entries of a dead process and removes its consumer', async () => {
    const app = await withoutReader();
    await add(app, anEvent({ subject: '1' }));
    await readAndDie(app, 'dead');
    await start({ forgetMs: 300 });
    await until(() => taken().length === 1, 'it is taken over');
    await until(async () => !(await consumers(app)).includes('dead'), 'the consumer is removed');
    await untilTrimmed(app);
  });

  it('keeps the entries and the consumer of a live process', async () => {
    const app = await withoutReader();
    const held = await add(app, anEvent({ subject: '1' }));
    await readAndDie(app, 'slow');
    await add(app, anEvent({ id: 'e-2', subject: '2' }));
    const reader = await start({ takeOverMs: 60_000, forgetMs: 1 });
    await until(async () => (await pending(app)) === 1 && taken().length === 1, 'the other one is taken');
    await reader.context.get(InboundEventStream).tidy();
    expect((await app.redis.xrange(keyOf(app), '-', '+')).map(([id]) => id)).toEqual([
      held,
      expect.any(String),
    ]);
    expect(await consumers(app)).toContain('slow');
    await app.redis.xack(keyOf(app), GROUP, held!);
  });

  it('acknowledges an entry that was deleted while it was pending', async () => {
    const app = await withoutReader();
    const id = (await add(app, anEvent({ subject: '1' })))!;
    await readAndDie(app, 'dead');
    await app.redis.xdel(keyOf(app), id);
    await start();
    await until(async () => (await pending(app)) === 0, 'nothing is pending');
    expect(facts).toEqual([]);
  });

  it('continues after the stream was deleted', async () => {
    const app = await start({ takeOverMs: 60_000 });
    await add(app, anEvent({ subject: '1' }));
    await until(() => taken().length === 1, 'the first is taken');
    await app.redis.del(keyOf(app));
    await add(app, anEvent({ id: 'e-2', subject: '2' }));
    await until(() => taken().length === 2, 'the second is taken');
  });

  it('shares the stream with other consumers', async () => {
    await start();
    const app = await start();
    for (let i = 0; i < 200; i += 1) await add(app, anEvent({ id: `e-${i}`, subject: String(i) }));
    await untilTrimmed(app);
    await until(() => taken().length >= 200, 'all are taken');
    // A slow consumer may lose an entry to another, which then processes it a second time.
    expect(new Set(taken().map((fact) => 'id' in fact && fact.id)).size).toBe(200);
  });

  it('stops at once at shutdown and removes its consumer', async () => {
    const app = await withoutReader();
    const ending = await start({ takeOverMs: 60_000 });
    await add(app, anEvent({ subject: '1' }));
    await until(() => taken().length === 1, 'it has read');
    const began = Date.now();
    await ending.context.close();
    expect(Date.now() - began).toBeLessThan(1_500);
    expect(await consumers(app)).toEqual([]);
  });

  it('opens a new connection when one was lost silently', async () => {
    const proxy = await Proxy.start(inject('storeUrl'));
    try {
      const hangs = proxy.next('hang', /xreadgroup/i);
      const app = await start({}, proxy.url);
      await hangs;
      // The first event may go to the lost connection and is taken over later. The second must not.
      await add(app, anEvent({ subject: '1' }));
      await until(() => taken().length === 1, 'the first is taken');
      await add(app, anEvent({ id: 'e-2', subject: '2' }));
      await until(() => taken().length === 2, 'the second is taken', 10_000);
      await stopAll();
    } finally {
      await proxy.stop();
    }
  });

  describe('with a store', () => {
    let store: TestStore;
    beforeEach(async () => (store = await TestStore.start()));
    afterEach(() => store.stop());

    it.each<[string, () => Promise<void>]>([
      [
        'frozen for a while',
        async () => {
          store.freeze();
          // Longer than a blocking read waits.
          await new Promise((resolve) => setTimeout(resolve, 3_500));
          store.thaw();
        },
      ],
      [
        'restarted',
        async () => {
          await store.kill();
          await store.restart();
        },
      ],
    ])('%s processes later events', async (_what, harm) => {
      const app = await start({}, store.url);
      await add(app, anEvent({ subject: '1' }));
      await until(() => taken().length === 1, 'the first is taken');
      await harm();
      await add(app, anEvent({ id: 'e-2', subject: '2' }));
      await until(() => taken().length === 2, 'the second is taken');
      await untilTrimmed(app);
      await stopAll();
    });
  });
});
