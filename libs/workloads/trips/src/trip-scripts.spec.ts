import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { until } from '../../../../test/support/until.js';
import { scripts } from './trip-repository.js';

type Mutant = readonly [script: string, from: string, to: string];

/** Each mutant removes one guard, or one write that belongs to the step. */
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
  ['offer', "  redis.call('ZREM', line_key(driver), id)\n  return { 'over'", "  return { 'over'"],
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
  ['trip', "  redis.call('ZREM', line_key(driver), trip)\n", ''],
  ['trip', "redis.call('HEXISTS', key, 'trip') == 0", 'true'],
];

describe('the scripts of trips', () => {
  let redis: Redis;
  let listener: Redis;
  let right: string[];
  beforeAll(async () => {
    redis = new Redis(inject('storeUrl'));
    listener = new Redis(inject('storeUrl'));
    await listener.psubscribe('scripts-*');
    right = await transcript();
  });
  afterAll(async () => {
    await Promise.all([redis.quit(), listener.quit()]);
  });

  it('give the same transcript twice', async () => {
    // Equal transcripts here mean that any difference below comes from the mutant.
    expect(await transcript()).toEqual(right);
    expect(right).toMatchInlineSnapshot(`
      [
        "driver ann 1: ["online"]",
        "driver bob 1: ["online"]",
        "driver cem 0: ["offline","<time>"]",
        "create t1 rider ["ann","bob","cem"] 60000  secret: ["created"]",
        "create t1 rider ["ann"] 60000  secret: ["exists","t1"]",
        "trip:t1: secret",
        "offer t1 ann j1a: ["offered"]",
        "offer t1 ann j1a: ["offered"]",
        "offer t1 bob j1b: ["offered"]",
        "offer t1 cem j1c: ["unavailable"]",
        "offer t1 dan j1d: ["not-asked"]",
        "accept t1 cem: ["unavailable"]",
        "accept t1 dan: ["not-asked"]",
        "accept none ann: ["unknown"]",
        "create t2 rider ["bob","ann"] 60000  secret: ["created"]",
        "create t3 rider ["bob","ann"] 60000  secret: ["created"]",
        "offer t3 bob j3b: ["busy","offer"]",
        "offer t2 bob j2b: ["busy","offer"]",
        "t1 is due: 1",
        "accept t1 ann: ["accepted","","j2b bob"]",
        "t1 is due: 1",
        "accept t1 ann: ["again"]",
        "accept t1 bob: ["over","ACCEPTED"]",
        "offer t1 bob j1b: ["over","ACCEPTED","j2b bob"]",
        "offer t2 bob j2b: ["offered"]",
        "offer t2 ann j2a: ["busy","trip"]",
        "accept t2 ann: ["busy","t1"]",
        "driver cem 1: ["online"]",
        "finish t2 COMPLETED done: ["refused","PENDING"]",
        "finish t2 EXPIRED expired: ["early","<ms>"]",
        "decline t2 ann: ["not-offered"]",
        "decline t2 bob: ["declined","j3b bob"]",
        "offer t2 bob j2b: ["over","DECLINED","j3b bob"]",
        "offer t3 bob j3b: ["offered"]",
        "accept t2 bob: ["accepted","t3"]",
        "offer t3 ann j3a: ["busy","trip"]",
        "finish t1 COMPLETED done: ["finished","j3a ann"]",
        "t1 is due: 1",
        "finish t1 COMPLETED done: ["again"]",
        "finish t1 CANCELLED off: ["refused","COMPLETED"]",
        "offer t3 ann j3a: ["offered"]",
        "finish t2 CANCELLED off: ["finished"]",
        "create t4 rider ["ann","cem"] 1  secret: ["created"]",
        "offer t4 cem j4c: ["offered"]",
        "accept t4 cem: ["over","EXPIRED"]",
        "offer t4 ann j4a: ["over","EXPIRED"]",
        "line:ann: ",
        "finish t4 EXPIRED expired: ["finished"]",
        "finish t4 EXPIRED expired: ["again"]",
        "create t5 rider ["cem","ann"] 60000  secret: ["created"]",
        "create t6 rider ["cem","ann"] 60000  secret: ["created"]",
        "offer t5 cem j5c: ["offered"]",
        "offer t6 cem j6c: ["busy","offer"]",
        "driver cem 0: ["offline","<time>"]",
        "driver cem 1: ["online"]",
        "offer t6 cem j6c: ["offered"]",
        "accept t6 cem: ["accepted",""]",
        "driver cem 0: ["offline","<time>"]",
        "accept t6 cem: ["again"]",
        "driver:cem: ["available","0","trip","t6"]",
        "driver:cem: -1",
        "finish t6 COMPLETED done: ["finished"]",
        "driver:cem: ["available","0"]",
        "create n1 rider ["gus"] 60000  secret: ["created"]",
        "offer n1 gus jn1: ["unavailable"]",
        "accept n1 gus: ["accepted",""]",
        "finish n1 COMPLETED done: ["finished"]",
        "driver:gus: []",
        "driver fay 1: ["online"]",
        "create w0 rider ["fay"] 60000  secret: ["created"]",
        "offer w0 fay jw0: ["offered"]",
        "create w1 rider ["fay"] 60000  secret: ["created"]",
        "offer w1 fay jw1: ["busy","offer"]",
        "create w2 rider ["fay"] 60000  secret: ["created"]",
        "offer w2 fay jw2: ["busy","offer"]",
        "create w3 rider ["fay"] 60000  secret: ["created"]",
        "offer w3 fay jw3: ["busy","offer"]",
        "create w4 rider ["fay"] 60000  secret: ["created"]",
        "offer w4 fay jw4: ["busy","offer"]",
        "finish w1 CANCELLED off: ["finished"]",
        "decline w0 fay: ["declined","jw2 fay"]",
        "finish w2 CANCELLED off: ["finished","jw3 fay"]",
        "offer w3 fay jw3: ["over","EXPIRED","jw4 fay"]",
        "driver fay 0: ["offline","<time>"]",
        "finish w0 CANCELLED off: ["finished"]",
        "finish w3 CANCELLED off: ["finished"]",
        "finish w4 CANCELLED off: ["finished"]",
        "create t8 rider ["dan"] 60000  secret: ["created"]",
        "offer t8 dan j8d: ["unavailable"]",
        "driver dan 1: ["online","j8d dan"]",
        "driver:dan: -1",
        "driver dan 0: ["offline","<time>"]",
        "finish t8 CANCELLED off: ["finished"]",
        "create k1 rider ["dan"] 60000 digest secret: ["created"]",
        "create k2 rider ["dan"] 60000 digest secret: ["exists","k1"]",
        "finish k1 CANCELLED refused refused: ["finished"]",
        "create k2 rider ["dan"] 60000 digest secret: ["created"]",
        "trip:k2: digest",
        "finish k2 CANCELLED off : ["finished"]",
        "create k3 rider ["dan"] 60000 digest secret: ["exists","k2"]",
        "driver eve 1: ["online"]",
        "create p1 rider ["eve"] 86400000  secret: ["created"]",
        "create p2 rider ["eve"] 60000  secret: ["created"]",
        "create p3 rider ["eve"] 60000  secret: ["created"]",
        "offer p1 eve jp1: ["offered"]",
        "offer p2 eve jp2: ["busy","offer"]",
        "offer p3 eve jp3: ["busy","offer"]",
        "offers:eve: 25 h",
        "decline p1 eve: ["declined","jp2 eve"]",
        "offers:eve: 25 h",
        "pass eve jp3: ["moved"]",
        "pass eve jp2: ["passed","jp3 eve"]",
        "trip:p2: 0",
        "pass eve jp3: ["passed"]",
        "pass eve jp3: ["moved"]",
        "p3 is due: 1",
        "offer p3 eve jp3: ["offered"]",
        "accept p2 eve: ["accepted","p3"]",
        "trip:p3: 0",
        "p3 is due: 1",
        "finish p1 CANCELLED off: ["finished"]",
        "finish p2 CANCELLED off: ["finished"]",
        "finish p3 CANCELLED off: ["finished"]",
        "create p4 rider ["eve"] 60000  secret: ["created"]",
        "accept p4 eve: ["accepted",""]",
        "finish p4 COMPLETED done: ["finished"]",
        "driver eve 0: ["offline","<time>"]",
        "look cem  9: ["<time>","","0"]",
        "look ann  9: ["<time>","t3","<ms>",["<time>",["event","offer","trip","t3","more","<time> rider"]]]",
        "["<time>","t3","<ms>",["<time>",["event","accepted","trip","t1","more",""]],["<time>",["event","offer","trip","t3","more","<time> rider"]]]",
        "look ann 999999999999999-0 9: ["<time>","t3","<ms>",["<time>",["event","offer","trip","t3","more","<time> rider"]]]",
        "look zoe 999999999999999-0 9: ["","","0"]",
        "["<time>","t3","<ms>",["<time>",["event","offer","trip","t1","more","<time> rider"]],["<time>",["event","accepted","trip","t1","more",""]]]",
        "true",
        "finish t3 CANCELLED off: ["finished"]",
        "finish t5 CANCELLED off: ["finished"]",
        "due: t2 t3 t4 t5 t6 t8",
        "create t7 rider ["ann"] 60000  secret: ["created"]",
        "due 1: [["t7","tend"]]",
        "mark-checked t7 PENDING: ["ok"]",
        "due: 5 s",
        "due 1: []",
        "due 1: [["t7","watch"]]",
        "mark-checked t7 PENDING: ["ok"]",
        "due: 250",
        "due: 250",
        "mark-checked t6 ACCEPTED: ["moved"]",
        "due 2: [["t6","tend"],["t7","tend"]]",
        "due 2: [["t5","tend"]]",
        "due 2: []",
        "finish t7 CANCELLED off: ["finished"]",
        "mark-checked t1 COMPLETED: ["ok"]",
        "mark-checked t2 CANCELLED: ["ok"]",
        "mark-checked t6 COMPLETED: ["ok"]",
        "mark-checked t5 CANCELLED: ["ok"]",
        "mark-checked t3 CANCELLED: ["ok"]",
        "mark-checked t7 CANCELLED: ["ok"]",
        "mark-checked t8 CANCELLED: ["ok"]",
        "mark-checked t4 EXPIRED: ["ok"]",
        "mark-checked none : ["ok"]",
        "offers:ann: true more than 120",
        "create o1 rider ["hal"] 60000  secret: ["created"]",
        "offer o1 hal jo1: ["offered"]",
        "offers:hal: 1000",
        "finish o1 CANCELLED off: ["finished"]",
        "driver ann 0: ["offline","<time>"]",
        "driver bob 0: ["offline","<time>"]",
        "driver hal 0: ["offline","<time>"]",
        "away: ann bob cem dan eve fay hal",
        "away 9: ["ann","1","bob","2"]",
        "mark-withdrawn ann 2: ["moved"]",
        "mark-withdrawn ann 1: ["ok"]",
        "stays: ",
        "offer t1, accepted t1, offer t3, withdrawn t3 off, offer b0, withdrawn b0 off, offer b1, withdrawn b1 off, offer b2, withdrawn b2 off, offer b3, withdrawn b3 off",
        "offer t1, withdrawn t1 accepted, offer t2, withdrawn t2 declined, offer t3, withdrawn t3 on-a-trip, withdrawn t2 off",
        "offer t4, withdrawn t4 expired, offer t5, withdrawn t5 offline, offer t6, accepted t6",
        "offer p1, withdrawn p1 declined, offer p3, withdrawn p3 on-a-trip, withdrawn p2 off",
        "withdrawn o1 off",
        "told",
      ]
    `);
  });

  it.each(MUTANTS)('change the transcript without this line: %s, %s', async (...mutant) => {
    const mutated = await transcript(mutant).catch((error: Error) => [error.message]);
    expect(mutated).not.toEqual(right);
  });

  /** Runs a scripted sequence of trips and drivers; returns each answer and the final state. */
  async function transcript(mutant?: Mutant): Promise<string[]> {
    const root = `scripts-${randomBytes(6).toString('hex')}:{trips}`;
    const said: string[] = [];
    let told = 0;
    const count = (_pattern: string, channel: string): void =>
      void (told += channel.startsWith(root) ? 1 : 0);
    listener.on('pmessage', count);
    const call = async (name: string, ...args: (string | number)[]): Promise<string[]> =>
      (await redis.eval(scriptOf(name, mutant), 1, root, ...args)) as string[];
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

function scriptOf(name: string, [where, from = '', to = '']: Mutant | readonly [] = []): string {
  return scripts.text(name, (text, file) => {
    if (where !== file) return text;
    if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
    return text.replace(from, () => to);
  });
}

/** Replaces times, which differ between runs. */
function settled(answer: unknown): string {
  return JSON.stringify(answer)
    .replaceAll(/\d{13}(-\d+)?/g, '<time>')
    .replaceAll(/"\d{5}"/g, '"<ms>"');
}
