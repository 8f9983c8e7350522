import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { LEASE_MS, OwnerCalls, unlinkOwner } from '../../../../test/protocol/owner.calls.js';
import { answersToRush } from '../../../../test/protocol/rushes.js';
import type { ScriptRunner } from '../../../../test/protocol/script-runner.js';
import { stateOf } from '../../../../test/protocol/sent-twice.js';
import { runScript } from '../scripts.js';

const NOW = 1_900_000_000_000;

describe('one script after another', () => {
  let connections: Redis[];
  let redis: Redis;
  let owner: OwnerCalls;

  const runOn =
    (connection: Redis): ScriptRunner =>
    (name, keys, args) =>
      runScript(connection, name, keys, args);

  const reserve = async (
    job: string,
    strategy: 'skip' | 'replace' | 'coalesce' | '' = '',
  ): Promise<string[]> => owner.reserve(NOW, { job, strategy, key: strategy && 'key', payload: `of ${job}` });

  const begin = async (now: number, job: string, epoch: string, token = 't1', key = ''): Promise<string[]> =>
    owner.begin(now, { job, token, epoch, life: 50, key });

  beforeAll(() => {
    connections = Array.from({ length: 5 }, () => new Redis(inject('storeUrl')));
    redis = connections[0]!;
  });

  beforeEach(() => {
    owner = new OwnerCalls(runOn(redis), `protocol:{${randomUUID()}}`);
  });

  afterEach(() => unlinkOwner(redis, owner.record));
  afterAll(() => Promise.all(connections.map((connection) => connection.quit())));

  it('fifty producers of one key make one pending job', async () => {
    expect(await answersToRush(connections.map(runOn), redis, 'skip')).toEqual({ new: 1, skip: 49, jobs: 1 });
  });

  it.each([
    ['just inside', NOW + 49, ['run', '1']],
    ['exactly at', NOW + 50, ['run', '1']],
    ['one after', NOW + 51, ['skip', 'expired']],
  ])('begin is asked %s the time in which it may start', async (_, now, answer) => {
    const [, epoch] = await reserve('job');
    expect(await begin(now, 'job', epoch!)).toEqual(answer);
  });

  it.each([
    ['just inside', LEASE_MS - 1, ['ok'], ['wait', 'busy', String(LEASE_MS)]],
    ['exactly at', LEASE_MS, ['ok'], ['wait', 'busy', String(LEASE_MS)]],
    ['one after', LEASE_MS + 1, ['lost'], ['skip', 'expired']],
  ])('renew is asked %s the end of the lease', async (_, after, renewed, begun) => {
    const [, epoch] = await reserve('job');
    await begin(NOW, 'job', epoch!);
    const call = { job: 'job', token: 't1', epoch: epoch! };
    const answers = [await owner.renew(NOW + after, call), await begin(NOW + after, 'job', epoch!, 't2')];
    expect(answers).toEqual([renewed, begun]);
  });

  it('a lease that another run has ended is not renewed in its last millisecond', async () => {
    const [, epoch] = await reserve('job');
    await owner.begin(NOW, { job: 'job', token: 't1', epoch: epoch!, life: '', key: '' });
    const at = NOW + LEASE_MS;
    await owner.begin(at, { job: 'job', token: 't2', epoch: epoch!, life: '', key: '' });
    expect(await owner.renew(at, { job: 'job', token: 't1', epoch: epoch! })).toEqual(['lost']);
  });

  it('a key whose job has left the index is free at once', async () => {
    await reserve('job', 'skip');
    await redis.hdel(owner.record, 'jjob');
    expect(await reserve('next', 'skip')).toEqual(['new', `${NOW}000`, String(NOW)]);
  });

  it('a key whose job was refused as expired is free at once', async () => {
    const [, epoch] = await reserve('job', 'skip');
    await begin(NOW + 51, 'job', epoch!, 't1', 'key');
    expect(await reserve('next', 'skip')).toEqual(['new', `${NOW}000`, String(NOW)]);
  });

  it.each([
    ['skip', NOW + 90, ['run', '1']],
    ['skip', NOW + 91, ['skip', 'expired']],
    ['coalesce', NOW + 90, ['run', '1', 'of last']],
    ['coalesce', NOW + 91, ['skip', 'expired']],
  ] as const)(
    'a trigger with %s gives the pending job its time anew: asked at %i',
    async (strategy, now, answer) => {
      const [, epoch] = await reserve('job', strategy);
      for (const at of [NOW + 40, NOW + 40]) {
        await owner.reserve(at, { job: 'last', strategy, key: 'key', payload: 'of last' });
      }
      expect(await begin(now, 'job', epoch!, 't1', 'key')).toEqual(answer);
    },
  );

  it('a trigger that comes after its start gives a job that runs or is tried again no more time', async () => {
    const [, epoch] = await reserve('job', 'skip');
    await begin(NOW, 'job', epoch!, 't1', 'key');
    await owner.end(NOW + 10, { job: 'job', token: 't1', leaves: false, key: 'key', epoch: '' });
    const late = await owner.reserve(NOW + 40, { job: 'next', strategy: 'skip', key: 'key', payload: '' });
    expect([late[0], await begin(NOW + 51, 'job', epoch!, 't2', 'key')]).toEqual([
      'new',
      ['skip', 'expired'],
    ]);
  });

  it('a job of an epoch before holds no key', async () => {
    await reserve('job', 'skip');
    const [, epoch] = await owner.cancel(NOW, { cancelId: 'c1' });
    expect(await reserve('next', 'skip')).toEqual(['new', epoch, String(NOW)]);
  });

  it('a job whose result was committed in time is done, however late it is asked', async () => {
    const [, epoch] = await reserve('job');
    const [, fence] = await begin(NOW, 'job', epoch!);
    await owner.commit({ job: 'job', token: 't1', epoch: epoch!, fence: fence!, result: '{"ok":true}' });
    expect(await begin(NOW + LEASE_MS, 'job', epoch!, 't2')).toEqual(['done', '{"ok":true}', fence]);
  });

  it('a job that leaves late takes nothing from the next life of its id', async () => {
    const [, epoch] = await reserve('job', 'replace');
    const [, newEpoch] = await owner.cancel(NOW, { cancelId: 'c1' });
    await reserve('job', 'replace');
    const call = { job: 'job', token: '', leaves: true, key: 'key' };
    await owner.end(NOW, { ...call, epoch: epoch! });
    const held = await redis.hget(`${owner.record}:dedup`, 'key');
    expect([held, await begin(NOW, 'job', newEpoch!, 't1', 'key')]).toEqual([
      `${newEpoch}|job`,
      ['run', '1'],
    ]);
    await owner.end(NOW, { ...call, token: 't1', epoch: newEpoch! });
    expect(await redis.hexists(owner.record, 'jjob')).toBe(0);
  });

  it('a cancel that a sweep decided on is void when a job came in between', async () => {
    const [, epoch] = await reserve('job');
    await reserve('next');
    const answers = [
      await owner.cancel(NOW, { cancelId: 'c1', saw: [epoch!, '1'] }),
      await owner.cancel(NOW, { cancelId: 'c1', saw: [epoch!, '2'] }),
    ];
    expect(answers).toEqual([['moved'], ['cancelled', String(Number(epoch) + 1), epoch]]);
  });

  it.each(['', 'skip', 'replace', 'coalesce'] as const)(
    'a job (%j) that expects another epoch of its owner writes nothing, and meets no twin',
    async (strategy) => {
      const call = { job: 'job', strategy, key: strategy && 'key', payload: 'new' };
      const forNobody = await owner.reserve(NOW, { ...call, expected: `${NOW}000` });
      const keysOfNobody = await redis.exists(owner.record, `${owner.record}:dedup`, `${owner.record}:late`);
      const [, epoch] = await reserve('twin', strategy);
      const moved = String(Number(epoch) + 1);
      const before = await stateOf(redis, [owner.record]);
      const forAnother = await owner.reserve(NOW, { ...call, expected: moved });
      const after = await stateOf(redis, [owner.record]);
      await owner.cancel(NOW, { cancelId: 'c1', close: true });
      const forOneClosed = await owner.reserve(NOW, { ...call, expected: epoch! });

      expect([forNobody, forAnother, forOneClosed]).toEqual([['moved'], ['moved'], ['moved']]);
      expect(keysOfNobody).toBe(0);
      expect(after).toBe(before);
      expect(await owner.reserve(NOW, { ...call, expected: moved })).toEqual(['closed']);
    },
  );

  it('a job that expects the epoch its owner has is taken, also when it is sent twice', async () => {
    const [, epoch] = await reserve('twin');
    const call = { job: 'job', strategy: '', key: '', payload: '', expected: epoch! } as const;
    expect([await owner.reserve(NOW, call), await owner.reserve(NOW, call)]).toEqual([
      ['new', epoch, String(NOW)],
      ['new', epoch, String(NOW), 'again'],
    ]);
  });

  it('an owner takes exactly as many jobs as its limit', async () => {
    const words: string[] = [];
    for (const job of ['a', 'b', 'c']) {
      const [word] = await owner.reserve(NOW, { job, strategy: '', key: '', payload: '' }, 2);
      words.push(word!);
    }
    expect(words).toEqual(['new', 'new', 'full']);
  });

  it('a trigger with no room for its job is left to a twin, or is refused and writes nothing', async () => {
    const call = { job: 'next', strategy: 'skip', key: 'key', payload: '' } as const;
    const forNobody = await owner.reserve(NOW, call, 0);
    const written = await redis.exists(owner.record, `${owner.record}:dedup`, `${owner.record}:late`);
    expect([forNobody, written]).toEqual([['full', '0'], 0]);
    const [, epoch] = await reserve('job', 'skip');
    expect(await owner.reserve(NOW, call, 0)).toEqual(['skip', 'job', epoch, String(NOW)]);
    expect(await owner.reserve(NOW, { ...call, key: 'other' }, 0)).toEqual(['full', '1']);
  });

  it('a closed owner takes no jobs', async () => {
    await owner.cancel(NOW, { cancelId: 'c1', close: true });
    expect(await reserve('job')).toEqual(['closed']);
  });

  it('one owner’s trouble is its own in a batch', async () => {
    await redis.set(`${owner.record}:runs`, 'not a sorted set');
    const others = ['a', 'b'].map((name) => `${owner.record}${name}`);
    const keys = [others[0]!, owner.record, others[1]!];
    const epoch = `${NOW}000`;
    for (const key of keys) await runOn(redis)('reserve', [key], [NOW, 'trip:1', 'job', '', '', '', '', '']);
    const args = keys.flatMap(() => ['job', 't1', epoch, '', LEASE_MS, '', 1]);
    const answers = (await runOn(redis)('begin', keys, [NOW, ...args])) as string[][];
    await redis.unlink(...others, ...others.map((key) => `${key}:runs`));
    expect(answers.map(([word]) => word)).toEqual(['run', 'error', 'run']);
  });
});
