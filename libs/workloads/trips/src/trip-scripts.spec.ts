import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { scriptText, testScripts, type Mutant } from '../../../../test/support/script-mutants.js';
import { until } from '../../../../test/support/until.js';
import { scripts } from './trip-repository.js';

const MUTANTS: readonly Mutant[] = [
  ['create', "redis.call('EXISTS', trip_key(id)) == 1", 'false'],
  ['create', "digest ~= '' and redis.call('GET', order_key(digest))", 'false'],
  ['create', "redis.call('SET', order_key(digest), id)", ''],
  ['create', ", 'secret', secret", ''],
  ['create', "redis.call('ZADD', root .. ':due', recheck_at(now + lives), id)", ''],
  ['offer', "status ~= 'PENDING' or", 'false or'],
  ['offer', 'or now >= expires', ''],
  ['offer', 'or trip[5] then', 'then'],
  ['offer', 'if not is_asked(trip[6], driver) then', 'if false then'],
  ['offer', 'has[3] == id', 'false'],
  ['offer', "has[1] == '1' and not", 'not'],
  ['offer', 'and not has[2] and', 'and'],
  ['offer', 'and not has[3] then', 'then'],
  ['offer', "redis.call('ZADD', line_key(driver), trip[3], id)", ''],
  ['offer', "redis.call('HSET', trip_key(id), 'j' .. driver, job)", ''],
  ['offer', "  redis.call('ZREM', line_key(driver), id)\n  redis.call('HDEL'", "  redis.call('HDEL'"],
  ['offer', "  redis.call('ZREM', line_key(driver), id)\n  local over", '  local over'],
  ['accept', "status == 'ACCEPTED' and trip[4] == driver", 'false'],
  ['accept', 'trip[4] == driver', 'true'],
  ['accept', "status ~= 'PENDING' or", 'false or'],
  ['accept', 'or now >= tonumber(trip[2])', ''],
  ['offer', 'is_free(driver) and next_in_line(driver) or nil', 'nil'],
  ['accept', 'if not is_asked(trip[3], driver) then', 'if false then'],
  ['accept', 'if has[2] then', 'if false then'],
  ['accept', "if has[1] == '0' then", 'if false then'],
  ['accept', "if has[1] == '0' then", "if has[1] ~= '1' then"],
  ['accept', "withdraw_all(id, 'accepted', driver)", '{}'],
  ['accept', "withdraw_all(id, 'accepted', driver)", "withdraw_all(id, 'accepted')"],
  ['accept', "withdraw(driver, other, 'on-a-trip')", ''],
  ['accept', "show(driver, 'accepted', id, '')", ''],
  ['accept', 'elseif has[3] then', 'else'],
  ['accept', "redis.call('HDEL', driver_key(driver), 'offer')", ''],
  ['accept', "redis.call('HDEL', trip_key(other), 'sent')", ''],
  ['accept', "redis.call('ZADD', root .. ':due', recheck_at(other_ends), other)", ''],
  ['accept', "redis.call('HSET', driver_key(driver), 'trip', id)", ''],
  ['accept', "redis.call('ZADD', root .. ':due', now + RECHECK_MS, id)", ''],
  ['decline', "not withdraw(driver, id, 'declined')", 'false'],
  ['decline', "redis.call('HSET', trip_key(id), 'x' .. driver, 1)", ''],
  ['decline', ', next_in_line(driver)', ''],
  ['pass', "redis.call('HGET', trip_key(first), 'j' .. driver) ~= job", 'false'],
  ['pass', "redis.call('ZREM', line_key(driver), first)", ''],
  ['pass', "redis.call('HDEL', trip_key(first), 'j' .. driver)", ''],
  ['pass', ', next_in_line(driver)', ''],
  ['finish', 'if not FROM[how][status] then', 'if false then'],
  ['finish', 'if status == how then', 'if false then'],
  ['finish', "how == 'EXPIRED' and now <", 'false and now <'],
  ['finish', "redis.call('PEXPIRE', key, TRIP_KEEP_MS)", ''],
  ['finish', "redis.call('PEXPIRE', order_key(trip[4]), TRIP_KEEP_MS)", ''],
  ['finish', "redis.call('DEL', order_key(trip[4]))", ''],
  ['finish', "redis.call('ZADD', root .. ':due', now + RECHECK_MS, id)", ''],
  ['finish', 'local woken = withdraw_all(id, why)', 'local woken = {}'],
  ['finish', "redis.call('HDEL', driver_key(driver), 'trip')", ''],
  ['finish', "    show(driver, 'withdrawn', id, why)", ''],
  ['finish', 'woken[#woken + 1] = next_in_line(driver)', ''],
  ['finish', '  forget_idle(driver)', ''],
  ['driver', "redis.call('HSET', driver_key(driver), 'available', available)", ''],
  ['driver', "withdraw(driver, offer, 'offline')", ''],
  ['driver', "redis.call('DEL', line_key(driver))", ''],
  ['driver', 'forget_idle(driver)', ''],
  ['driver', "redis.call('PERSIST', driver_key(driver))", ''],
  ['driver', "redis.call('ZADD', root .. ':away', text(now), driver)", ''],
  ['driver', ', next_in_line(driver)', ''],
  ['look', "'(' .. last", 'last'],
  ['look', "#redis.call('XRANGE', key, last, '+', 'COUNT', 1) == 0", 'false'],
  ['look', "'+', 'COUNT', most)", "'+')"],
  ['look', '#entries == most and entries[most][1] or newest', 'newest'],
  ['look', "expires and text(tonumber(expires) - now) or '0'", "'0'"],
  ['due', "redis.call('ZADD', due, is_open and recheck_at(trip[2]) or now + RECHECK_MS, id)", ''],
  ['due', 'is_open and recheck_at(trip[2]) or now + RECHECK_MS', 'now + RECHECK_MS'],
  ['due', 'is_open and trip[3] and', 'is_open and'],
  ['due', 'is_open and trip[3] and', 'trip[3] and'],
  ['away', 'now - RECHECK_MS', 'now'],
  ['mark-withdrawn', "redis.call('ZSCORE', away, driver) ~= ARGV[2]", 'false'],
  ['mark-withdrawn', "redis.call('ZREM', away, driver)", ''],
  ['due', "'LIMIT', 0, tonumber(ARGV[1])", "'LIMIT', 0, 1000"],
  ['mark-checked', "(trip[1] or '') ~= status", 'false'],
  ['mark-checked', "redis.call('HSET', trip_key(id), 'sent', 1)", ''],
  [
    'mark-checked',
    "redis.call('ZADD', root .. ':due', recheck_at(trip[2]), id)",
    "redis.call('ZREM', root .. ':due', id)",
  ],
  ['mark-checked', "redis.call('ZREM', root .. ':due', id)", ''],
  ['trip', "'MINID', text(now - OFFERS_KEEP_MS), ", ''],
  ['trip', "redis.call('XTRIM', key, 'MAXLEN', OFFERS_KEPT)", ''],
  ['trip', "redis.call('PEXPIRE', key, text(lives))", ''],
  ['trip', "if redis.call('PTTL', key) < lives then", 'if true then'],
  ['trip', "redis.call('PEXPIRE', key, AWAY_KEEP_MS)", ''],
  ['trip', 'math.min(now + RECHECK_MS, tonumber(expires) + LATE_MS)', 'now + RECHECK_MS'],
  ['trip', 'or stood and is_free(driver)', ''],
  ['trip', 'stood and is_free(driver)', 'stood'],
  ['trip', "return has[1] == '1' and not has[2] and not has[3]", "return has[1] == '1'"],
  ['trip', '(stands or 0)', '0'],
  ['trip', "redis.call('PUBLISH', key, trip)", ''],
  ['trip', "redis.call('HGET', driver_key(driver), 'offer') ~= trip", 'false'],
  ['trip', "redis.call('HDEL', driver_key(driver), 'offer')", ''],
  ['trip', "redis.call('ZREM', line_key(driver), trip) == 1", "redis.call('ZSCORE', line_key(driver), trip)"],
  ['trip', "redis.call('HEXISTS', key, 'trip') == 0", 'true'],
];

describe('the scripts of trips', () => {
  let redis: Redis;
  let listener: Redis;
  beforeAll(async () => {
    redis = new Redis(inject('storeUrl'));
    listener = new Redis(inject('storeUrl'));
    await listener.psubscribe('scripts-*');
  });
  afterAll(async () => {
    await Promise.all([redis.quit(), listener.quit()]);
  });

  testScripts(MUTANTS, transcript);

  /** Runs a scripted sequence of trips and drivers; returns each answer and the final state. */
  async function transcript(mutant?: Mutant): Promise<string[]> {
    const root = `scripts-${randomBytes(6).toString('hex')}:{trips}`;
    const said: string[] = [];
    let told = 0;
    const count = (_pattern: string, channel: string): void =>
      void (told += channel.startsWith(root) ? 1 : 0);
    listener.on('pmessage', count);
    const call = async (name: string, ...args: (string | number)[]): Promise<string[]> =>
      (await redis.eval(scriptText(scripts, name, mutant), 1, root, ...args)) as string[];
    const say = async (name: string, ...args: (string | number)[]): Promise<void> => {
      const answer = await call(name, ...args);
      said.push(`${name} ${args.join(' ')}: ${settled(answer)}`);
    };
    const create = (id: string, lives: number, ...drivers: string[]): Promise<void> =>
      say('create', id, 'rider', JSON.stringify(drivers), lives, '', 'secret');
    try {
      await say('driver', 'ann', 1);
      await say('driver', 'bob', 1);
      await say('driver', 'cem', 0);
      // One trip and three drivers, one of them offline.
      await create('t1', 60_000, 'ann', 'bob', 'cem');
      await create('t1', 60_000, 'ann');
      await state('trip:t1', async () => String(await redis.hget(`${root}:trip:t1`, 'secret')));
      await say('offer', 't1', 'ann', 'j1a');
      await say('offer', 't1', 'ann', 'j1a');
      await say('offer', 't1', 'bob', 'j1b');
      await say('offer', 't1', 'cem', 'j1c');
      await say('offer', 't1', 'dan', 'j1d');
      await say('accept', 't1', 'cem');
      await say('accept', 't1', 'dan');
      await say('accept', 'none', 'ann');
      // Later requests queue behind it in order.
      await create('t2', 60_000, 'bob', 'ann');
      await redis.hset(`${root}:trip:t2`, 'created', '1');
      await create('t3', 60_000, 'bob', 'ann');
      await say('offer', 't3', 'bob', 'j3b');
      await say('offer', 't2', 'bob', 'j2b');
      await due('t1');
      await say('accept', 't1', 'ann');
      await due('t1');
      await say('accept', 't1', 'ann');
      await say('accept', 't1', 'bob');
      await say('offer', 't1', 'bob', 'j1b');
      await say('offer', 't2', 'bob', 'j2b');
      await say('offer', 't2', 'ann', 'j2a');
      await say('accept', 't2', 'ann');
      await say('driver', 'cem', 1);
      await say('finish', 't2', 'COMPLETED', 'done');
      await say('finish', 't2', 'EXPIRED', 'expired');
      await say('decline', 't2', 'ann');
      await say('decline', 't2', 'bob');
      await say('offer', 't2', 'bob', 'j2b');
      await say('offer', 't3', 'bob', 'j3b');
      await say('accept', 't2', 'bob');
      await say('offer', 't3', 'ann', 'j3a');
      await say('finish', 't1', 'COMPLETED', 'done');
      await due('t1');
      await say('finish', 't1', 'COMPLETED', 'done');
      await say('finish', 't1', 'CANCELLED', 'off');
      await say('offer', 't3', 'ann', 'j3a');
      await say('finish', 't2', 'CANCELLED', 'off');
      // A trip that is not accepted.
      await create('t4', 1, 'ann', 'cem');
      await redis.hset(`${root}:trip:t4`, 'expires', '9999999999999');
      await say('offer', 't4', 'cem', 'j4c');
      await redis.hset(`${root}:trip:t4`, 'expires', '1');
      await say('accept', 't4', 'cem');
      await redis.zadd(`${root}:line:ann`, 1, 't4');
      await say('offer', 't4', 'ann', 'j4a');
      await state('line:ann', async () => String(await redis.zrange(`${root}:line:ann`, '0', '-1')));
      await say('finish', 't4', 'EXPIRED', 'expired');
      await say('finish', 't4', 'EXPIRED', 'expired');
      // Going offline gives up the offer and the queue, not the trip.
      await create('t5', 60_000, 'cem', 'ann');
      await create('t6', 60_000, 'cem', 'ann');
      await say('offer', 't5', 'cem', 'j5c');
      await say('offer', 't6', 'cem', 'j6c');
      await say('driver', 'cem', 0);
      await say('driver', 'cem', 1);
      await say('offer', 't6', 'cem', 'j6c');
      await say('accept', 't6', 'cem');
      await say('driver', 'cem', 0);
      await say('accept', 't6', 'cem');
      await state('driver:cem');
      await state('driver:cem', async () => String(await redis.pttl(`${root}:driver:cem`)));
      await say('finish', 't6', 'COMPLETED', 'done');
      await state('driver:cem');
      // A driver who never set availability gets no offers but may accept; no key of theirs remains.
      await create('n1', 60_000, 'gus');
      await say('offer', 'n1', 'gus', 'jn1');
      await say('accept', 'n1', 'gus');
      await say('finish', 'n1', 'COMPLETED', 'done');
      await call('mark-checked', 'n1', 'COMPLETED');
      await state('driver:gus');
      // The first in the queue ends after its wake: the next is woken, also when the woken request finds its
      // trip over.
      await say('driver', 'fay', 1);
      for (const [i, id] of ['w0', 'w1', 'w2', 'w3', 'w4'].entries()) {
        await create(id, 60_000, 'fay');
        await redis.hset(`${root}:trip:${id}`, 'created', i + 1);
        await say('offer', id, 'fay', `j${id}`);
      }
      await say('finish', 'w1', 'CANCELLED', 'off');
      await say('decline', 'w0', 'fay');
      await say('finish', 'w2', 'CANCELLED', 'off');
      await redis.hset(`${root}:trip:w3`, 'expires', '1');
      await say('offer', 'w3', 'fay', 'jw3');
      await say('driver', 'fay', 0);
      for (const id of ['w0', 'w3', 'w4']) await say('finish', id, 'CANCELLED', 'off');
      for (let i = 0; i < 5; i += 1) await call('mark-checked', `w${i}`, 'CANCELLED');
      await call('driver', 'dan', 0);
      await create('t8', 60_000, 'dan');
      await say('offer', 't8', 'dan', 'j8d');
      await say('driver', 'dan', 1);
      await state('driver:dan', async () => String(await redis.pttl(`${root}:driver:dan`)));
      await say('driver', 'dan', 0);
      await say('finish', 't8', 'CANCELLED', 'off');
      // One key, one trip; a refused trip frees its key.
      const keyed = (id: string): Promise<void> =>
        say('create', id, 'rider', '["dan"]', 60_000, 'digest', 'secret');
      await keyed('k1');
      await keyed('k2');
      await say('finish', 'k1', 'CANCELLED', 'refused', 'refused');
      await keyed('k2');
      await state('trip:k2', async () => String(await redis.hget(`${root}:trip:k2`, 'key')));
      await say('finish', 'k2', 'CANCELLED', 'off', '');
      await keyed('k3');
      for (const id of ['k1', 'k2']) await call('mark-checked', id, 'CANCELLED');
      // A first request that will not ask again is removed, and a day-long offer stays readable for a day.
      await say('driver', 'eve', 1);
      for (const id of ['p1', 'p2', 'p3']) await create(id, id === 'p1' ? 86_400_000 : 60_000, 'eve');
      for (const [i, id] of ['p1', 'p2', 'p3'].entries())
        await redis.hset(`${root}:trip:${id}`, 'created', i);
      for (const id of ['p1', 'p2', 'p3']) await say('offer', id, 'eve', `j${id}`);
      await state('offers:eve', async () => hoursLeft('offers:eve'));
      await say('decline', 'p1', 'eve');
      await state('offers:eve', async () => hoursLeft('offers:eve'));
      await say('pass', 'eve', 'jp3');
      await say('pass', 'eve', 'jp2');
      await state('trip:p2', async () => String(await redis.hexists(`${root}:trip:p2`, 'jeve')));
      await say('pass', 'eve', 'jp3');
      await say('pass', 'eve', 'jp3');
      await due('p3');
      await say('offer', 'p3', 'eve', 'jp3');
      await call('mark-checked', 'p3', 'PENDING');
      await redis.zrem(`${root}:due`, 'p3');
      await say('accept', 'p2', 'eve');
      await state('trip:p3', async () => String(await redis.hexists(`${root}:trip:p3`, 'sent')));
      await due('p3');
      for (const id of ['p1', 'p2', 'p3']) {
        await say('finish', id, 'CANCELLED', 'off');
        await call('mark-checked', id, 'CANCELLED');
      }
      // Accepting withdraws nothing from a driver who was not offered the trip.
      await create('p4', 60_000, 'eve');
      await say('accept', 'p4', 'eve');
      await say('finish', 'p4', 'COMPLETED', 'done');
      await call('mark-checked', 'p4', 'COMPLETED');
      await say('driver', 'eve', 0);
      // Expired offers are not shown; a returning phone sees what it missed.
      await say('look', 'cem', '', 9);
      await say('look', 'ann', '', 9);
      const [first] = await redis.xrange(`${root}:offers:ann`, '-', '+', 'COUNT', 1);
      said.push(settled(await call('look', 'ann', first![0], 9)));
      for (const driver of ['ann', 'zoe']) await say('look', driver, '999999999999999-0', 9);
      const two = await call('look', 'ann', '0-0', 2);
      said.push(settled(two), `${two[0] === two[4]![0]}`);
      for (const id of ['t3', 't5']) await say('finish', id, 'CANCELLED', 'off');
      said.push(`due: ${(await redis.zrange(`${root}:due`, '0', '-1')).toSorted().join(' ')}`);
      await create('t7', 60_000, 'ann');
      await redis.zadd(`${root}:due`, 1, 't7');
      await say('due', 1);
      await say('mark-checked', 't7', 'PENDING');
      await state('due', () => dueIn('t7'));
      await say('due', 1);
      await redis.zadd(`${root}:due`, 1, 't7');
      await say('due', 1);
      const expires = Date.now() + 2_000;
      await redis.hset(`${root}:trip:t7`, 'expires', expires);
      await say('mark-checked', 't7', 'PENDING');
      await state('due', async () => String(Number(await redis.zscore(`${root}:due`, 't7')) - expires));
      await redis.zadd(`${root}:due`, 1, 't7');
      await call('due', 1);
      await state('due', async () => String(Number(await redis.zscore(`${root}:due`, 't7')) - expires));
      await redis.hset(`${root}:trip:t7`, 'expires', '1');
      await say('mark-checked', 't6', 'ACCEPTED');
      await redis.zadd(`${root}:due`, 1, 't6', 2, 't7', 3, 't5');
      await say('due', 2);
      await say('due', 2);
      await say('due', 2);
      await say('finish', 't7', 'CANCELLED', 'off');
      for (const id of ['t1', 't2', 't6', 't5', 't3', 't7', 't8'])
        await say('mark-checked', id, (await redis.hget(`${root}:trip:${id}`, 'status'))!);
      await say('mark-checked', 't4', 'EXPIRED');
      await say('mark-checked', 'none', '');
      for (let i = 0; i < 60; i += 1) {
        await call('create', `b${i}`, 'rider', '["ann"]', 60_000, '', 'secret');
        await call('offer', `b${i}`, 'ann', 'j');
        await call('finish', `b${i}`, 'CANCELLED', 'off');
        await call('mark-checked', `b${i}`, 'CANCELLED');
      }
      await state(
        'offers:ann',
        async () => `${(await redis.xlen(`${root}:offers:ann`)) > 120} more than 120`,
      );
      const many = redis.pipeline();
      for (let i = 1; i <= 1_100; i += 1)
        many.xadd(
          `${root}:offers:hal`,
          i <= 90 ? `1-${i}` : '*',
          'event',
          'withdrawn',
          'trip',
          'old',
          'more',
          '',
        );
      await redis.del(`${root}:offers:hal`);
      await many.exec();
      await call('driver', 'hal', 1);
      await create('o1', 60_000, 'hal');
      await say('offer', 'o1', 'hal', 'jo1');
      await state('offers:hal', async () => String(await redis.xlen(`${root}:offers:hal`)));
      await redis.del(`${root}:offers:hal`);
      await redis.xadd(`${root}:offers:hal`, '1-1', 'event', 'withdrawn', 'trip', 'old', 'more', '');
      await say('finish', 'o1', 'CANCELLED', 'off');
      await call('mark-checked', 'o1', 'CANCELLED');
      for (const id of ['ann', 'bob', 'hal']) await say('driver', id, 0);
      // Requests are withdrawn some time after their driver went offline.
      said.push(`away: ${(await redis.zrange(`${root}:away`, '0', '-1')).toSorted().join(' ')}`);
      await redis.zadd(`${root}:away`, 1, 'ann', 2, 'bob');
      await say('away', 9);
      await say('mark-withdrawn', 'ann', 2);
      await say('mark-withdrawn', 'ann', 1);
      for (const id of ['bob', 'cem', 'dan', 'eve', 'fay', 'hal'])
        await call('mark-withdrawn', id, (await redis.zscore(`${root}:away`, id))!);
      said.push(`stays: ${(await staying()).join(' ')}`);
      const events = await Promise.all(
        ['ann', 'bob', 'cem', 'eve', 'hal'].map((id) =>
          redis.xrange(`${root}:offers:${id}`, '-', '+', 'COUNT', 12),
        ),
      );
      said.push(
        ...events.map((one) =>
          one
            .map(
              ([, [, event, , trip, , more]]) => `${event} ${trip}${event === 'withdrawn' ? ` ${more}` : ''}`,
            )
            .join(', '),
        ),
      );
      const heard = told;
      said.push(
        await until(() => told > 0 && told === heard, 'messages come', 300).then(
          () => 'told',
          () => 'not told',
        ),
      );
      return said;
    } finally {
      listener.off('pmessage', count);
      const keys = await redis.keys(`${root}:*`);
      if (keys.length > 0) await redis.unlink(...keys);
    }

    /** Makes the trip due and shows whether the reconciler would find it. */
    async function due(id: string): Promise<void> {
      said.push(`${id} is due: ${await redis.zrem(`${root}:due`, id)}`);
    }

    async function state(
      what: string,
      look = async () => settled(Object.entries(await redis.hgetall(`${root}:${what}`)).flat()),
    ): Promise<void> {
      said.push(`${what}: ${await look()}`);
    }

    /** Seconds until the reconciler checks the trip. */
    async function dueIn(id: string): Promise<string> {
      return `${Math.round((Number(await redis.zscore(`${root}:due`, id)) - Date.now()) / 1_000)} s`;
    }

    async function hoursLeft(what: string): Promise<string> {
      return `${Math.round((await redis.pttl(`${root}:${what}`)) / 3_600_000)} h`;
    }

    /** Keys without a TTL. */
    async function staying(): Promise<string[]> {
      const keys = await redis.keys(`${root}:*`);
      const lives = await Promise.all(keys.map((key) => redis.pttl(key)));
      return keys.filter((_key, i) => lives[i] === -1).map((key) => key.slice(root.length));
    }
  }
});

/** Replaces times, which differ between runs. */
function settled(answer: unknown): string {
  return JSON.stringify(answer)
    .replaceAll(/\d{13}(-\d+)?/g, '<time>')
    .replaceAll(/"\d{5}"/g, '"<ms>"');
}
