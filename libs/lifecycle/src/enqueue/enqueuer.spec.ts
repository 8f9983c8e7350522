import { Test, type TestingModule } from '@nestjs/testing';
import type { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { cancelByScript } from '../../../../test/support/cancel-door.js';
import {
  InvalidJobError,
  LifecycleError,
  OwnerClosedError,
  TooLargeError,
  UnknownKindError,
} from '../errors.js';
import { Removals, type Removal } from '../history/removals.js';
import type { Fact } from '../journal.js';
import { queueOfJobId } from '../kinds/ids.js';
import { defineKind } from '../kinds/kind.js';
import { owner, type Owner } from '../kinds/owner.js';
import { LifecycleModule } from '../lifecycle.module.js';
import { Queues } from '../queues.js';
import { Enqueuer, type Ticket } from './enqueuer.js';
import type { EnqueueOptions } from './request.js';

const thumbnail = defineKind({
  name: 'media.thumbnail',
  queue: 'media',
  payload: z.object({ file: z.string(), width: z.number().default(100) }),
  attempts: 3,
  backoff: { type: 'exponential', delay: '1.5s' },
  keep: { age: '90500ms', count: 7 },
});
const plain = defineKind({ name: 'plain', queue: 'plain-work', payload: z.any() });
const dated = defineKind({ name: 'dated', queue: 'plain-work', payload: z.object({ on: z.date() }) });
const datedText = defineKind({
  name: 'dated-text',
  queue: 'plain-work',
  payload: z.object({ on: z.coerce.date<Date | string>() }),
});
const brief = defineKind({ name: 'brief', queue: 'plain-work', payload: z.any(), expiresIn: '2s' });
const foreign = defineKind({ name: 'foreign', queue: 'media', payload: z.any() });

const trip = owner('trip', '42');
const MAX_PAYLOAD_BYTES = 100;

describe('the enqueuer', () => {
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  const facts: Fact[] = [];
  let redis: Redis;
  let module: TestingModule;
  let enqueuer: Enqueuer;

  beforeAll(async () => {
    redis = new Redis(inject('storeUrl'), { maxRetriesPerRequest: null });
    module = await Test.createTestingModule({
      imports: [
        LifecycleModule.forRootAsync({
          useFactory: () => ({
            redis,
            prefix,
            maxPayloadBytes: MAX_PAYLOAD_BYTES,
            listeners: [(fact) => facts.push(fact)],
          }),
        }),
        LifecycleModule.forKinds([thumbnail, plain, dated, datedText, brief]),
      ],
    }).compile();
    enqueuer = module.get(Enqueuer);
    await redis.ping();
  });

  afterEach(async () => {
    facts.length = 0;
    await Promise.all(['media', 'plain-work'].map((name) => queue(name).obliterate()));
    const ours = await redis.keys(`${prefix}:*`);
    if (ours.length > 0) await redis.unlink(ours);
  });

  afterAll(async () => {
    expect(await redis.keys(`*${prefix}*`)).toEqual([]);
    await module.close();
    await redis.quit();
  });

  const queue = (name: string): Queue => module.get(Queues).get(name);
  const enqueueThumbnail = (more: Partial<EnqueueOptions> = {}): Promise<Ticket> =>
    enqueuer.enqueue(thumbnail, { file: 'a.png' }, { owners: [trip], ...more });
  const enqueuePlain = (payload: unknown): Promise<Ticket> =>
    enqueuer.enqueue(plain, payload, { owners: [trip] });
  /** The set that a job waits in. */
  const setsOf = async (id: string): Promise<string[]> => {
    const key = (set: string): string => `{${prefix}}:${queueOfJobId(id)}:${set}`;
    const sets = ['prioritized', 'delayed'];
    const scores = await Promise.all(sets.map((set) => redis.zscore(key(set), id)));
    return sets.filter((_, i) => scores[i] !== null);
  };

  it('notes why a job is gone that another replaced, with each of its owners, and tells', async () => {
    const owners = [trip, owner('site', '1')];
    const dedup = { strategy: 'replace' } as const;
    const first = await enqueueThumbnail({ owners, dedup, delay: '1h' });
    const second = await enqueueThumbnail({ owners, dedup });
    const removal: Removal = {
      id: first.id,
      queue: 'media',
      kind: 'media.thumbnail',
      owners: ['trip:42', 'site:1'],
      state: 'delayed',
      at: expect.any(String) as string,
      why: 'cancelled',
      reason: 'replaced by newer job',
      by: second.id,
    };

    expect(second).toMatchObject({ outcome: 'replaced', replaced: first.id });
    expect(await module.get(Removals).find(first.id)).toEqual(removal);
    for (const one of owners) expect((await module.get(Removals).ofOwner(one)).entries).toEqual([removal]);
    expect(facts).toContainEqual({
      event: 'job.skipped',
      queue: 'media',
      kind: 'media.thumbnail',
      jobId: first.id,
      owner: 'trip:42',
      endedAs: 'cancelled',
      why: 'replaced by newer job',
      by: 'replacement',
    });
  });

  describe.each(['skip', 'coalesce', 'replace'] as const)('of one key, with %s,', (strategy) => {
    const dedup = { strategy };
    const [site, ada, bob] = [owner('site', '1'), owner('user', 'ada'), owner('user', 'bob')];
    const enqueueFor = async (...owners: Owner[]): Promise<Ticket> =>
      enqueueThumbnail({ owners, dedup, delay: '1h' });

    it('jobs of other further owners never stand for one another', async () => {
      const tickets = [
        await enqueueFor(site),
        await enqueueFor(site, ada),
        await enqueueFor(site, bob),
        await enqueueFor(site, ada, bob),
      ];
      expect(tickets.map(({ outcome }) => outcome)).toEqual(Array(4).fill('created'));
      expect((await enqueueFor(site, bob, ada)).outcome).not.toBe('created');
    });

    it('none is left to a job that another owner’s cancel ends', async () => {
      const first = await enqueueFor(site, ada);
      await cancelByScript(redis, prefix, 'user:ada');
      const second = await enqueueFor(site, ada);
      expect(second.id).not.toBe(first.id);
      expect(await queue('media').getJobState(second.id)).toBe('delayed');
      const third = await enqueueFor(site, ada);
      expect(third.replaced ?? third.id).toBe(second.id);
    });

    it('is refused while a further owner is closed, whether or not one is pending', async () => {
      await enqueueFor(site, ada);
      await cancelByScript(redis, prefix, 'user:ada', { close: true });
      await expect(enqueueFor(site, ada)).rejects.toThrow(new OwnerClosedError('user:ada'));
    });
  });

  it('answers a ticket', async () => {
    const ticket = await enqueueThumbnail({ owners: [trip, owner('site', 'a:b')] });
    expect(ticket).toEqual({
      outcome: 'created',
      id: expect.stringMatching(/^media-[0-9A-Za-z]{20}$/),
      kind: 'media.thumbnail',
      queue: 'media',
      owners: ['trip:42', 'site:a:b'],
    });
  });

  it('puts the job, with what its kind says, where it waits by priority', async () => {
    const { id } = await enqueueThumbnail();
    const job = await queue('media').getJob(id);
    expect(await setsOf(id)).toEqual(['prioritized']);
    expect({ id: job?.id, name: job?.name, data: job?.data, opts: job?.opts }).toEqual({
      id,
      name: 'media.thumbnail',
      data: { v: 1, o: ['trip:42'], e: [expect.stringMatching(/^\d{16}$/)], b: { file: 'a.png' } },
      opts: {
        jobId: id,
        priority: 300,
        attempts: 3,
        backoff: { type: 'kind' },
        removeOnComplete: { age: 91, count: 7 },
        removeOnFail: { age: 91, count: 7 },
      },
    });
  });

  it('puts a kind’s defaults into its job', async () => {
    const { id } = await enqueuePlain(null);
    expect((await queue('plain-work').getJob(id))?.opts).toEqual({
      jobId: id,
      priority: 300,
      // BullMQ's way to say: once.
      attempts: 0,
      backoff: undefined,
      removeOnComplete: { age: 86_400, count: 1000 },
      removeOnFail: { age: 86_400, count: 1000 },
    });
  });

  it('lets a job wait that is to run later', async () => {
    const { id } = await enqueueThumbnail({ delay: '90s' });
    expect(await setsOf(id)).toEqual(['delayed']);
    expect((await queue('media').getJob(id))?.opts).toMatchObject({ delay: 90_000, priority: 300 });
  });

  it('lets the urgent pass, and keeps the order of the equally urgent', async () => {
    const tickets: Ticket[] = [];
    for (const priority of [200, 100, 1, 100]) tickets.push(await enqueueThumbnail({ priority }));
    const [least, first, most, second] = tickets.map(({ id }) => id);
    expect(await redis.zrange(`{${prefix}}:media:prioritized`, '0', '-1')).toEqual([
      most,
      first,
      second,
      least,
    ]);
  });

  it('announces the job by its primary owner', async () => {
    const { id } = await enqueueThumbnail({ owners: [trip, owner('site', '7')] });
    expect(facts).toEqual([
      { event: 'job.accepted', queue: 'media', kind: 'media.thumbnail', jobId: id, owner: 'trip:42' },
    ]);
  });

  it('takes an owner that is named twice for one', async () => {
    const owners = [trip, owner('site', '7'), owner('trip', '42')];
    const { id, ...ticket } = await enqueueThumbnail({ owners });
    expect(ticket.owners).toEqual(['trip:42', 'site:7']);
    expect((await queue('media').getJob(id))?.data.o).toEqual(['trip:42', 'site:7']);
  });

  it('takes up to four owners', async () => {
    const owners = ['1', '2', '3', '4'].map((id) => owner('trip', id));
    expect((await enqueueThumbnail({ owners })).owners).toEqual(['trip:1', 'trip:2', 'trip:3', 'trip:4']);
  });

  it('takes a payload up to its limit, counted in bytes', async () => {
    const atLimit = '⚓'.repeat((MAX_PAYLOAD_BYTES - 4) / 3) + 'xx';
    const { id } = await enqueuePlain(atLimit);
    expect((await queue('plain-work').getJob(id))?.data.b).toBe(atLimit);
  });

  it('checks a payload as its run will get it', async () => {
    const on = new Date(0);
    const { id } = await enqueuer.enqueue(datedText, { on }, { owners: [trip] });
    expect((await queue('plain-work').getJob(id))?.data.b).toEqual({ on: on.toJSON() });
  });

  it('takes no payload at all where the kind has none', async () => {
    const { id } = await enqueuePlain(undefined);
    expect((await queue('plain-work').getJob(id))?.data).not.toHaveProperty('b');
  });

  it('takes a delay of up to a year', async () => {
    const { id } = await enqueueThumbnail({ delay: '365d' });
    expect(await setsOf(id)).toEqual(['delayed']);
  });

  const fiveOwners = ['1', '2', '3', '4', '5'].map((id) => owner('trip', id));
  const refusals: [what: string, ask: () => Promise<Ticket>, error: LifecycleError][] = [
    [
      'a payload just above the limit',
      () => enqueuePlain(`${'⚓'.repeat((MAX_PAYLOAD_BYTES - 4) / 3)}xxx`),
      new TooLargeError(101, 100),
    ],
    [
      'a payload that its schema refuses',
      () => enqueuer.enqueue(thumbnail, { file: 7 } as never, { owners: [trip] }),
      new InvalidJobError(
        'The payload of media.thumbnail is wrong:\n✖ Invalid input: expected string, received number\n  → at file',
      ),
    ],
    [
      'a payload that JSON makes something else of',
      () => enqueuer.enqueue(dated, { on: new Date(0) }, { owners: [trip] }),
      new InvalidJobError(
        'The payload of dated is wrong:\n✖ Invalid input: expected date, received string\n  → at on',
      ),
    ],
    [
      'a payload that JSON has no words for',
      () => enqueuePlain({ count: 1n }),
      new InvalidJobError('The payload cannot be written as JSON: Do not know how to serialize a BigInt.'),
    ],
    [
      'an owner whose id holds half a character',
      () => enqueueThumbnail({ owners: [{ type: 'trip', id: '\ud83d' }] }),
      new InvalidJobError('An owner\'s id holds half of a surrogate pair; got "\\ud83d".'),
    ],
    [
      'a delay after which it could only expire',
      () => enqueueThumbnail({ delay: '1h', expiresIn: '1s' }),
      new InvalidJobError(
        'delay (1h) is longer than expiresIn (1s): the job could only expire. Give it a longer expiresIn.',
      ),
    ],
    [
      'a delay after which it could only expire by its kind',
      () => enqueuer.enqueue(brief, {}, { owners: [trip], delay: '1h' }),
      new InvalidJobError(
        'delay (1h) is longer than the expiresIn of the kind brief (2s): the job could only expire. Give it a longer expiresIn.',
      ),
    ],
    [
      'a kind that is not registered',
      () => enqueuer.enqueue(foreign, {}, { owners: [trip] }),
      new UnknownKindError('foreign'),
    ],
    [
      'no owner',
      () => enqueueThumbnail({ owners: [] }),
      new InvalidJobError('A job has one to 4 owners, as in ["trip:42"].'),
    ],
    [
      'five owners',
      () => enqueueThumbnail({ owners: fiveOwners }),
      new InvalidJobError('A job has one to 4 owners, as in ["trip:42"].'),
    ],
    [
      'owners that are no list',
      () => enqueueThumbnail({ owners: trip as never }),
      new InvalidJobError('A job has one to 4 owners, as in ["trip:42"].'),
    ],
    [
      'a delay of more than a year',
      () => enqueueThumbnail({ delay: 365 * 86_400_000 + 1 }),
      new InvalidJobError('delay is at most 365d.'),
    ],
    [
      'a delay that is none',
      () => enqueueThumbnail({ delay: 'soon' }),
      new InvalidJobError(
        'delay must be a number of ms or a number with a unit (500ms, 30s, 5m, 24h, 7d); got "soon".',
      ),
    ],
    ...[0, 201, 1.5, Number.NaN].map((priority): (typeof refusals)[number] => [
      `priority ${priority}`,
      () => enqueueThumbnail({ priority }),
      new InvalidJobError('priority is a whole number from 1 (most urgent) to 200.'),
    ]),
  ];

  it('takes a delay that a trigger may give more time for, or that leaves just enough', async () => {
    const dedup = { strategy: 'coalesce', key: 'late' } as const;
    const taken = [
      await enqueueThumbnail({ delay: '1h', expiresIn: '1s', dedup }),
      await enqueueThumbnail({ delay: '1h', expiresIn: '1h' }),
    ];
    expect(await Promise.all(taken.map(({ id }) => setsOf(id)))).toEqual([['delayed'], ['delayed']]);
  });

  it.each(refusals)('refuses %s, and writes nothing', async (_, ask, error) => {
    const before = await redis.keys(`*${prefix}*`);
    await expect(ask()).rejects.toThrow(error);
    expect({ keys: await redis.keys(`*${prefix}*`), facts }).toEqual({ keys: before, facts: [] });
  });
});
