import fc from 'fast-check';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { digestOf } from './lease-keys.js';
import { scripts } from './lease-repository.js';

type Mutant = readonly [script: string, from: string, to: string];

const START = 1_700_000_000_000;
const PLACES = 3;

/** Each mutant removes one guard, or one write that belongs to the step. */
const MUTANTS: readonly Mutant[] = [
  ['create', "redis.call('EXISTS', key) == 1", 'false'],
  ['create', 'if before then', 'if false then'],
  ['create', "redis.call('SET', order_key(order), id)", ''],
  ['create', "redis.call('HSET', key, 'key', order)", ''],
  ['create', '>= places', '> places'],
  ['create', 'text(math.max(0, tonumber(first[2] or now) - now))', "'0'"],
  ['create', "redis.call('SADD', root .. ':of:' .. digest, id)", ''],
  ['create', "redis.call('ZADD', root .. ':until', text(now + lives), id)", ''],
  ['create', "redis.call('ZADD', root .. ':all', n, id)", ''],
  ['create', "redis.call('ZADD', root .. ':is:provisioning', n, id)", ''],
  ['create', 'look_at(id, now + 5 * RECHECK_MS)', ''],
  ['sent', 'if not known[1] then', 'if false then'],
  ['sent', 'look_at(id, tonumber(known[2]) + RECHECK_MS)', ''],
  ['sent', "if known[1] == 'provisioning' or known[1] == 'running' then", 'do'],
  ['sent', "known[1] == 'provisioning' or", ''],
  ['sent', "or known[1] == 'running' then", 'then'],
  ['drop', "known[1] ~= 'provisioning' or", ''],
  ['drop', 'or known[2] then', 'then'],
  ['drop', "redis.call('SREM', root .. ':of:' .. known[3], id)", ''],
  ['drop', "redis.call('ZREM', root .. ':until', id)", ''],
  ['drop', "redis.call('ZREM', root .. ':due', id)", ''],
  ['drop', "redis.call('ZREM', root .. ':is:provisioning', id)", ''],
  ['drop', '\nforget(id)', ''],
  ['drop', "redis.call('DEL', key,", "redis.call('DEL',"],
  ['drop', ", order_key(known[4] or '')", ''],
  ['begin', "if known[1] == 'running' then", 'if false then'],
  ['begin', "known[1] ~= 'provisioning' or", ''],
  ['begin', 'or now >= tonumber(known[4])', ''],
  ['begin', 'now >= tonumber(known[4])', 'now > tonumber(known[4])'],
  ['begin', "redis.call('HSET', key, 'making', making)", ''],
  ['settled', "redis.call('HGET', key, 'making') ~= making", 'false'],
  ['settled', "redis.call('HSET', key, 'making', 0)", ''],
  ['attach', "known[1] == 'running' and known[2] == container", 'false'],
  ['attach', 'and known[2] == container', ''],
  ['attach', "known[1] ~= 'provisioning'", "known[1] == 'running'"],
  ['attach', ", 'making', 0", ''],
  ['attach', "move(id, 'running')", ''],
  ['renew', "state ~= 'provisioning' and state ~= 'running'", 'false'],
  ['renew', "state ~= 'provisioning' and", ''],
  ['renew', "and state ~= 'running'", ''],
  ['renew', 'now >= expires', 'false'],
  ['renew', 'now >= expires', 'now > expires'],
  ['renew', 'math.max(expires, now + lives)', 'now + lives'],
  ['renew', 'math.max(expires, now + lives)', 'expires + lives'],
  ['renew', "redis.call('ZADD', root .. ':until', text(expires), id)", ''],
  ['renew', "redis.call('HINCRBY', key, 'g', 1)", ''],
  ['renew', 'if known[3] then', 'do'],
  ['renew', 'look_at(id, expires + RECHECK_MS)', ''],
  ['close', "if state == 'ended' or state == 'failed' then", 'if false then'],
  ['close', "state == 'ended' or", ''],
  ['close', "or state == 'failed' then", 'then'],
  ['close', "how == 'failed' and state == 'running'", 'false'],
  ['close', "how == 'failed' and", ''],
  ['close', "and state == 'running'", ''],
  ['close', 'if isMade and', 'if'],
  ['close', "redis.call('HEXISTS', key, 'making') == 1", 'true'],
  ['close', "redis.call('HSET', key, 'making', 0)", ''],
  ['close', "state ~= 'provisioning' and state ~= 'running'", 'false'],
  ['close', "redis.call('ZADD', root .. ':until', text(now), id)", ''],
  ['close', "move(id, 'ending')", ''],
  ['close', '  look_at(id, now + RECHECK_MS)\n', ''],
  ['claim', "if state == 'ended' or state == 'failed' then", 'if false then'],
  ['claim', 'if left > 0 then', 'if false then'],
  ['claim', 'if left > 0 then', 'if left >= 0 then'],
  ['claim', 'if left > 0 then', 'if left > 1 then'],
  ['claim', '      look_at(id, now + left + RECHECK_MS)\n', ''],
  ['claim', '    if known[5] then', '    do'],
  ['claim', "close(id, 'expired', 'its time is over')", ''],
  ['claim', 'tonumber(known[3] or 0) > now', 'false'],
  ['claim', 'tonumber(known[3] or 0) > now', 'tonumber(known[3] or 0) >= now'],
  ['claim', "state == 'manual-cleanup' and not isForced", 'false'],
  ['claim', 'and not isForced', ''],
  ['claim', "state == 'ending' and tonumber(known[4]) > now", 'false'],
  ['claim', 'look_at(id, tonumber(known[4]) + RECHECK_MS)', ''],
  ['claim', "redis.call('HSET', key, 'hold', text(now + hold))", ''],
  ['claim', "redis.call('HINCRBY', key, 'fence', 1)", "redis.call('HGET', key, 'fence')"],
  ['claim', "if state ~= 'manual-cleanup' then", 'do'],
  ['claim', 'look_at(id, now + hold + RECHECK_MS)', ''],
  ['claim', 'attempt > MOST', 'attempt >= MOST'],
  ['claim', "state == 'ending' and attempt > MOST", 'attempt > MOST'],
  ['claim', 'math.max(0, tonumber(made[5]) - now)', '0'],
  ['claim', "text(now - tonumber(redis.call('ZSCORE', root .. ':until', id)))", "'0'"],
  ['rest', 'known[1] ~= fence or', ''],
  ['rest', "(known[2] ~= 'ending' and known[2] ~= 'manual-cleanup')", 'false'],
  ['rest', " and known[2] ~= 'manual-cleanup'", ''],
  ['rest', "redis.call('HSET', key, 'next', text(now + pause))", ''],
  ['rest', "redis.call('HDEL', key, 'hold')", ''],
  ['rest', "if known[2] == 'ending' then", 'do'],
  ['rest', '  look_at(id, now + pause + RECHECK_MS)', ''],
  ['strike', 'known[1] ~= fence or', ''],
  ['strike', "(known[2] ~= 'ending' and known[2] ~= 'manual-cleanup')", 'false'],
  ['strike', " and known[2] ~= 'manual-cleanup'", ''],
  ['strike', "redis.call('HDEL', key, 'hold')\n-- A process", '-- A process'],
  ['strike', "'why', why, 'lost', lost", "'lost', lost"],
  ['strike', "'why', why, 'lost', lost", "'why', why"],
  ['strike', "if known[2] == 'ending' or lost ~= '1' then", 'do'],
  ['strike', "known[2] == 'ending' or lost", 'lost'],
  ['strike', "or lost ~= '1' then", 'then'],
  ['strike', "if known[2] == 'manual-cleanup' then", 'if false then'],
  ['strike', 'tries > MOST', 'tries >= MOST'],
  ['strike', "move(id, 'manual-cleanup')", ''],
  ['strike', "  look_at(id, now + RECHECK_MS)\n  return { 'manual' }", "  return { 'manual' }"],
  ['strike', 'tries * tries * 1000', 'tries * 1000'],
  ['strike', "'tries', tries, 'next'", "'next'"],
  ['strike', "'tries', tries, 'next', text(now + pause)", "'tries', tries"],
  ['strike', 'look_at(id, now + pause + RECHECK_MS)', ''],
  ['ended', 'known[1] ~= fence or', ''],
  ['ended', "(known[4] ~= 'ending' and known[4] ~= 'manual-cleanup')", 'false'],
  ['ended', "known[4] ~= 'ending' and", ''],
  ['ended', " and known[4] ~= 'manual-cleanup'", ''],
  ['ended', "redis.call('ZREM', root .. ':until', id)", ''],
  ['ended', "redis.call('SREM', root .. ':of:' .. od, id)", ''],
  ['ended', "how == 'failed' and 'failed' or 'ended'", "'ended'"],
  ['ended', "redis.call('HDEL', key, 'hold', 'next')", ''],
  ['ended', "redis.call('HSET', key, 'ended', text(now))", ''],
  ['ended', "redis.call('PEXPIRE', key, LEASE_KEEP_MS)", ''],
  ['ended', "redis.call('PEXPIRE', order_key(order or ''), LEASE_KEEP_MS)", ''],
  ['ended', "redis.call('ZADD', root .. ':over', text(now), id)", ''],
  ['ended', 'look_at(id, now + RECHECK_MS)\n  forget_old()', 'forget_old()'],
  ['ended', '\n  forget_old()\n  return state', '\n  return state'],
  ['release', "known[1] ~= 'manual-cleanup'", 'false'],
  ['release', "known[2] ~= '1'", 'false'],
  ['release', 'if not known[1] then', 'if false then'],
  ['again', "if state ~= 'manual-cleanup' then", 'if false then'],
  ['again', "move(id, 'ending')\nredis", 'redis'],
  ['again', "'tries', 0, 'next', text(now))\nlook", "'next', text(now))\nlook"],
  ['again', ", 'next', text(now))\nlook", ')\nlook'],
  ['again', 'look_at(id, now + RECHECK_MS)\nreturn', 'return'],
  ['due', "'-inf', text(now), 'LIMIT'", "'-inf', '+inf', 'LIMIT'"],
  ['due', "'LIMIT', 0, tonumber(ARGV[1])", "'LIMIT', 0, 100"],
  ['due', 'look_at(id, now + 5 * RECHECK_MS)', ''],
  ['due', '\nforget_old()', ''],
  ['due', 'text(now - LEASE_KEEP_MS)', "'+inf'"],
  ['due', 'surplus > 0', 'surplus > 1'],
  ['due', "redis.call('DEL', lease_key(id),", "redis.call('DEL',"],
  ['due', ", order_key(order or '')", ''],
  ['due', 'math.min(surplus, AT_ONCE) - 1', 'surplus'],
  ['due', "'over', 'is:ended', 'is:failed'", "'over'"],
  ['due', "{ 'all', 'over',", "{ 'over',"],
  ['tidied', "if state and state ~= 'ended' and state ~= 'failed' and", 'if false and'],
  ['tidied', "state ~= 'ended' and", ''],
  ['tidied', "and state ~= 'failed'", ''],
  ['tidied', "and state ~= 'manual-cleanup'", ''],
  ['tidied', 'if state and', 'if'],
  ['tidied', "redis.call('ZREM', root .. ':due', id)", ''],
];

/** A store of its own, with a clock that only the test advances. */
class World {
  readonly root = `test-${randomBytes(6).toString('hex')}:{leases}`;
  readonly log: unknown[] = [];
  now = START;

  constructor(
    private readonly redis: Redis,
    private readonly mutant?: Mutant,
  ) {}

  async run(name: string, ...args: (string | number)[]): Promise<string[]> {
    const answer = await this.ask(name, ...args);
    this.log.push([`+${this.now - START}`, name, ...args, '->', answer]);
    return answer;
  }

  ask(name: string, ...args: (string | number)[]): Promise<string[]> {
    const clock = `{ ${Math.floor(this.now / 1_000)}, ${(this.now % 1_000) * 1_000} }`;
    const [where, from = '', to = ''] = this.mutant ?? [];
    const whole = scripts.text(name);
    if (where === name && !whole.includes(from)) throw new Error(`${name} does not hold ${from}`);
    const text = where === name ? whole.replace(from, () => to) : whole;
    return this.redis.eval(text.replace("redis.call('TIME')", clock), 1, this.root, ...args) as Promise<
      string[]
    >;
  }

  create(id: string, livesMs = 60_000, owner = '', key = ''): Promise<string[]> {
    return this.run('create', id, 'alpine', livesMs, owner, digestOf(owner), PLACES, key);
  }

  /** Removes the lease from the due list, so that a script that should add it again is seen to do so. */
  async forgetDue(id: string): Promise<void> {
    await this.redis.zrem(`${this.root}:due`, id);
  }

  /** Records all keys, with times relative to the start. */
  async see(...ids: string[]): Promise<void> {
    const keys = (await this.redis.keys(`${this.root}:*`)).toSorted();
    const seen: Record<string, unknown> = {};
    for (const key of keys.filter((each) => !each.includes(':lease:'))) {
      const type = await this.redis.type(key);
      const name = key.slice(this.root.length + 1);
      if (type === 'zset') seen[name] = readScores(await this.redis.zrange(key, '0', '-1', 'WITHSCORES'));
      if (type === 'string') seen[name] = [await this.redis.get(key), (await this.redis.pttl(key)) > 0];
      if (type === 'set') seen[name] = (await this.redis.smembers(key)).toSorted();
    }
    for (const id of ids) {
      const key = `${this.root}:lease:${id}`;
      const fields = Object.entries(await this.redis.hgetall(key)).toSorted(([a], [b]) => (a < b ? -1 : 1));
      seen[id] = fields.map(([name, value]) => `${name}=${counted(value)}`).join(' ');
      if ((await this.redis.pttl(key)) > 0) seen[`${id} expires`] = true;
    }
    this.log.push(seen);
  }

  async end(): Promise<void> {
    const keys = await this.redis.keys(`${this.root}:*`);
    if (keys.length > 0) await this.redis.unlink(...keys);
  }
}

function readScores(flat: readonly string[]): Record<string, string> {
  const entries = flat.flatMap((member, i) => (i % 2 === 0 ? [[member, counted(flat[i + 1]!)]] : []));
  return Object.fromEntries(entries) as Record<string, string>;
}

function counted(value: string): string {
  return /^1[67]\d{11}$/.test(value) ? `+${Number(value) - START}` : value;
}

/** Runs every situation of a lease once; returns all answers and states. */
async function live(world: World): Promise<unknown[]> {
  // Calls for a lease that does not exist.
  for (const name of [
    'sent',
    'begin',
    'attach',
    'renew',
    'close',
    'claim',
    'again',
    'release',
    'tidied',
    'drop',
  ] as const)
    await world.run(name, 'none', 1, 'c', 'd', 'e');
  await world.see();
  await world.create('a', 60_000, 'trip:1');
  await world.create('a', 60_000, 'trip:1');
  await world.create('b', 30_000);
  await world.create('c', 90_000, 'trip:1', 'key-c');
  await world.create('c2', 90_000, 'trip:1', 'key-c');
  await world.create('d');
  world.now += 100;
  await world.create('d');
  await world.see('a', 'b', 'c');
  await world.run('strike', 'a', 0, 'too early', 0);
  await world.run('rest', 'a', 0, 1_000);
  await world.run('claim', 'a', 7_000, 0);
  await world.see('a');
  await world.run('drop', 'c');
  await world.create('c3', 90_000, '', 'key-c');
  await world.run('drop', 'c3');
  await world.see('c');

  // A lease that is created, renewed, and ends at its deadline.
  await world.run('renew', 'a', 70_000);
  await world.see('a');
  await world.run('sent', 'a', 'send-a', 'end-a', 'moor-a');
  await world.run('begin', 'a', 5_000);
  await world.see('a');
  await world.run('drop', 'a');
  await world.run('attach', 'a', 'box-1', 1_600_000_000_000, 'docker');
  await world.run('attach', 'a', 'box-1', 1_600_000_000_000, 'docker');
  await world.run('attach', 'a', 'box-2', 1_600_000_000_001, 'docker');
  await world.run('begin', 'a', 5_000);
  await world.run('close', 'a', 'failed', 'no answer came', 0);
  await world.forgetDue('a');
  await world.run('sent', 'a', 'send-a', 'end-a', 'moor-a');
  await world.see('a');
  await world.run('drop', 'a');
  await world.run('renew', 'a', 10_000);
  await world.run('renew', 'a', 80_000);
  await world.see('a');
  await world.forgetDue('a');
  await world.run('claim', 'a', 7_000, 0);
  await world.see('a');
  world.now = START + 80_099;
  await world.run('renew', 'a', 1);
  await world.run('claim', 'a', 7_000, 0);
  await world.run('tidied', 'a');
  world.now += 1;
  await world.run('renew', 'a', 60_000);
  await world.run('claim', 'a', 7_000, 0);
  await world.run('claim', 'a', 7_000, 0);
  await world.run('renew', 'a', 60_000);
  await world.run('begin', 'a', 5_000);
  await world.run('attach', 'a', 'box-1', 1_600_000_000_000, 'docker');
  await world.run('again', 'a');
  await world.run('sent', 'a', 'send-a', 'end-a', 'moor-a');
  await world.see('a');

  // Three attempts, one look, then manual clean-up.
  await world.run('strike', 'a', 99, 'no', 0);
  await world.run('strike', 'a', 1, 'no 1', 0);
  await world.forgetDue('a');
  await world.run('claim', 'a', 7_000, 0);
  await world.see('a');
  for (const pause of [1_000, 4_000, 9_000]) {
    world.now += pause;
    const [, , fence] = await world.run('claim', 'a', 7_000, 0);
    await world.run('close', 'a', 'deleted', 'by ann', 0);
    await world.run('strike', 'a', fence!, `no ${pause}`, 0);
    await world.see('a');
  }
  await world.run('release', 'a');
  await world.run('tidied', 'a');
  await world.see('a');
  await world.run('claim', 'a', 7_000, 0);
  await world.run('close', 'a', 'deleted', 'by ann', 0);
  await world.run('renew', 'a', 60_000);
  const [, , forced] = await world.run('claim', 'a', 7_000, 1);
  await world.see('a');
  await world.run('claim', 'a', 7_000, 1);
  await world.run('strike', 'a', forced!, 'still', 0);
  await world.see('a');
  const [, , elsewhere] = await world.run('claim', 'a', 7_000, 1);
  await world.run('strike', 'a', elsewhere!, 'not here', 1);
  await world.run('release', 'a');
  await world.see('a');
  const [, , resting] = await world.run('claim', 'a', 7_000, 1);
  await world.run('rest', 'a', resting!, 500);
  await world.see('a');
  await world.run('again', 'a');
  await world.see('a');
  const [, , fence] = await world.run('claim', 'a', 7_000, 0);
  await world.run('rest', 'a', 1, 2_000);
  await world.run('rest', 'a', fence!, 2_000);
  await world.see('a');
  await world.run('claim', 'a', 7_000, 0);
  world.now += 2_000;
  const [, , last] = await world.run('claim', 'a', 7_000, 0);
  world.now += 7_000;
  // An attempt that took too long has lost its hold.
  const [, , next] = await world.run('claim', 'a', 7_000, 0);
  await world.run('ended', 'a', last!);
  await world.see('a');
  await world.run('ended', 'a', next!);
  await world.run('ended', 'a', next!);
  await world.run('strike', 'a', next!, 'late', 0);
  await world.run('rest', 'a', next!, 1);
  await world.see('a');
  for (const name of ['renew', 'close', 'claim', 'again', 'drop', 'sent'] as const)
    await world.run(name, 'a', 9_000, 'x', 'y');
  await world.run('begin', 'a', 5_000);
  await world.run('attach', 'a', 'box-1', 1, 'docker');
  await world.run('tidied', 'a');
  await world.see('a');

  // A lease whose container could not be created, and one for which that is uncertain.
  await world.create('e', 60_000, '', 'key-e');
  await world.run('sent', 'e', 'send-e', 'end-e', '');
  await world.run('close', 'e', 'failed', 'no such image', 1);
  await world.see('e');
  await world.run('claim', 'e', 7_000, 0);
  await world.run('tidied', 'e');
  await world.run('ended', 'e', 1);
  await world.run('tidied', 'e');
  await world.run('close', 'e', 'deleted', 'x', 0);
  await world.run('claim', 'e', 7_000, 0);
  await world.see('e');
  await world.create('f');
  await world.run('begin', 'f', 5_000);
  await world.run('settled', 'f', world.now + 4_999);
  await world.run('close', 'f', 'deleted', 'by bob', 0);
  await world.see('f');
  world.now += 1_000;
  await world.run('claim', 'f', 500, 0);
  await world.run('close', 'f', 'failed', 'no such image', 1);
  await world.see('f');
  world.now += 500;
  await world.run('claim', 'f', 500, 0);
  await world.run('ended', 'f', 2);
  await world.run('begin', 'b', 5_000);
  world.now = Math.max(world.now, START + 30_000);
  await world.run('begin', 'b', 5_000);
  const [, , manual] = await world.run('claim', 'b', 100, 0);
  for (let i = 0, held = manual; i < 4; i += 1) {
    await world.run('strike', 'b', held!, 'no', 0);
    world.now += 10_000;
    [, , held] = await world.run('claim', 'b', 100, 0);
  }
  const [, , sure] = await world.run('claim', 'b', 100, 1);
  await world.run('ended', 'b', sure!);
  await world.see('b');

  // A lease whose engine no process has any more.
  await world.create('i', 1_000, 'trip:2');
  await world.run('begin', 'i', 5_000);
  await world.run('attach', 'i', 'box-9', 1_600_000_000_000, 'process@gone');
  await world.run('release', 'i');
  world.now += 1_000;
  for (const why of ['not here 1', 'not here 2', 'not here 3', 'not here 4']) {
    const [, , held] = await world.run('claim', 'i', 100, 0);
    await world.run('strike', 'i', held!, why, 1);
    await world.run('release', 'i');
    await world.see('i');
    world.now += 10_000;
  }
  await world.run('release', 'i');

  // A container that appeared and ended at once.
  await world.create('h');
  const [, , , making] = await world.run('begin', 'h', 5_000);
  await world.run('close', 'h', 'deleted', 'by bob', 0);
  await world.run('settled', 'h', making!);
  await world.run('claim', 'h', 500, 0);
  await world.run('settled', 'none', making!);
  await world.see('h');

  // The deadline of a lease without a container.
  await world.create('g', 1_000);
  world.now += 1_000;
  await world.run('begin', 'g', 5_000);
  await world.see('g');

  // A running lease that is deleted.
  await world.create('j');
  await world.run('begin', 'j', 5_000);
  await world.run('attach', 'j', 'box-10', 1_600_000_000_000, 'docker');
  await world.run('close', 'j', 'deleted', 'by bob', 0);
  await world.see('j');
  return world.log;
}

/** The due list, and the retention of ended leases. */
async function keep(world: World, redis: Redis): Promise<unknown[]> {
  const { root } = world;
  await world.create('a', 1_000);
  world.now += 100;
  await world.create('b', 2_000);
  world.now += 100;
  await world.create('c', 3_000);
  await world.run('due', 9);
  world.now += 5_000;
  await world.run('due', 2);
  await world.run('due', 2);
  await world.run('due', 2);
  await world.see();
  const day = 86_400_000;
  for (const [id, at, state] of [
    ['old', -day - 1, 'ended'],
    ['bad', -day, 'failed'],
    ['new', 1 - day, 'ended'],
  ] as const) {
    await redis.zadd(`${root}:over`, world.now + at, id);
    await redis.zadd(`${root}:is:${state}`, 1, id);
    await redis.zadd(`${root}:all`, 1, id);
  }
  await world.run('due', 0);
  await world.see();
  const many = Array.from({ length: 1_021 }, (_, i) => [world.now + i, `x${i}`]).flat();
  await redis.zadd(`${root}:over`, ...(many as [number, string]));
  for (const id of ['new', 'x19']) {
    await redis.hset(`${root}:lease:${id}`, 'state', 'ended', 'key', id);
    await redis.set(`${root}:key:${id}`, id);
  }
  const [, , fence] = await world.run('claim', 'a', 100, 0);
  await world.run('ended', 'a', fence!);
  world.log.push(await redis.zcard(`${root}:over`), await redis.exists(`${root}:lease:new`));
  await world.run('due', 0);
  world.log.push(
    await redis.zcard(`${root}:over`),
    await redis.exists(`${root}:lease:x19`, `${root}:key:x19`),
  );
  world.log.push(await redis.zrange(`${root}:over`, '0', '0'));
  await redis.zadd(`${root}:over`, world.now - 1, 'x-2');
  await world.run('due', 0);
  world.log.push(await redis.zcard(`${root}:over`));
  return world.log;
}

describe('the scripts of leases', () => {
  let redis: Redis;
  beforeAll(() => void (redis = new Redis(inject('storeUrl'))));
  afterAll(() => redis.quit());

  async function lived(mutant?: Mutant): Promise<string> {
    const logs: unknown[] = [];
    for (const life of [live, keep]) {
      const world = new World(redis, mutant);
      try {
        logs.push(await life(world, redis));
      } catch (error) {
        logs.push(world.log, String(error));
      } finally {
        await world.end();
      }
    }
    return JSON.stringify(logs, undefined, 1);
  }

  it('give the recorded answers and writes', async () => {
    expect(JSON.parse(await lived())).toMatchSnapshot();
  });

  it('change the log when a guard is removed', async () => {
    const whole = await lived();
    const unseen: string[] = [];
    for (const mutant of MUTANTS) {
      const mutated = await lived(mutant);
      expect(mutated).not.toContain('compiling');
      if (mutated === whole) unseen.push(mutant.join(' | '));
    }
    expect(unseen).toEqual([]);
  }, 120_000);

  /** I31, I33: any calls in any order, also at the exact ms of the deadline. */
  it('never end a renewed lease, never renew a marked one, and keep a place until the container is gone', async () => {
    const step = fc.oneof(
      fc.record({ act: fc.constant('renew' as const), ms: fc.integer({ min: 1, max: 6 }) }),
      fc.record({ act: fc.constantFrom('claim', 'strike', 'ended', 'attach', 'begin', 'close') }),
      fc.record({ act: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 4 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
        const world = new World(redis);
        try {
          await world.create('a', 5);
          let deadline = START + 5;
          let isMarked = false;
          let fence = 'none';
          for (const { act, ...more } of steps) {
            if (act === 'wait') world.now += 'ms' in more ? more.ms : 0;
            if (act === 'renew') {
              const ms = 'ms' in more ? more.ms : 1;
              const [word] = await world.ask('renew', 'a', ms);
              expect(word === 'renewed').toBe(!isMarked && world.now < deadline);
              if (word === 'renewed') deadline = Math.max(deadline, world.now + ms);
            }
            if (act === 'begin') await world.ask('begin', 'a', 3);
            if (act === 'attach') await world.ask('attach', 'a', 'box', 1, 'docker');
            if (act === 'close') {
              const [word] = await world.ask('close', 'a', 'deleted', 'x', 0);
              isMarked ||= word === 'closed';
            }
            if (act === 'claim') {
              const [word, , held] = await world.ask('claim', 'a', 3, 0);
              if (word === 'end' || word === 'look') {
                expect(isMarked || world.now >= deadline).toBe(true);
                [isMarked, fence] = [true, held!];
              }
            }
            if (act === 'strike') await world.ask('strike', 'a', fence, 'no', 0);
            const holdsPlace = await redis.zscore(`${world.root}:until`, 'a');
            if (act !== 'ended') continue;
            const [word] = await world.ask('ended', 'a', fence);
            if (word === 'ended') return;
            expect(holdsPlace).not.toBeNull();
          }
        } finally {
          await world.end();
        }
      }),
      { numRuns: 80 },
    );
  }, 60_000);
});
