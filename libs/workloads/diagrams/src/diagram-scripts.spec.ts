import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { scriptText, testScripts, type Mutant } from '../../../../test/support/script-mutants.js';
import { askedBy, goneKey, idOf, keysOf, linkKey, type DiagramKeys } from './diagram-keys.js';
import { scripts } from './diagram-repository.js';

const KEPT_MS = 300_000;
const SOON_MS = 100_000;
const LATER_MS = 200_000;

const MUTANTS: readonly Mutant[] = [
  ['ask', 'if not known[1] then', 'if true then'],
  ['ask', ", 'NX', 'PX', keep", ", 'PX', keep"],
  ['ask', ", 'NX', 'PX', keep", ", 'NX'"],
  ['ask', "'link', link,", "'link', ARGV[1],"],
  ['ask', 'link = known[1]', ''],
  ['ask', "redis.call('PEXPIRE', links .. link, keep)", ''],
  ['ask', "redis.call('HSET', askers, asker, epoch)", ''],
  ['ask', '>= tonumber(ARGV[10])', '> tonumber(ARGV[10])'],
  ['ask', '>= tonumber(ARGV[10])', '>= 1e9'],
  ['ask', "and redis.call('HEXISTS', askers, asker) == 0", ''],
  ['ask', "asker, epoch = '', ''", "asker = ''"],
  ['ask', "redis.call('HDEL', diagram, 'g')", ''],
  ['ask', "redis.call('PEXPIRE', diagram, keep)", ''],
  ['ask', "redis.call('PEXPIRE', diagram .. ':askers', keep)", ''],
  ['ask', "redis.call('ZREMRANGEBYSCORE', KEYS[3]", "redis.call('ZRANGEBYSCORE', KEYS[3]"],
  ['ask', '>= tonumber(ARGV[9])', '> tonumber(ARGV[9])'],
  ['ask', '>= tonumber(ARGV[9])', '>= 1 + #ARGV[9]'],
  ['ask', "forget(redis.call('ZPOPMIN', KEYS[3])[1])", "redis.call('ZPOPMIN', KEYS[3])"],
  ['ask', "forget(redis.call('ZPOPMIN', KEYS[3])[1])", "forget(redis.call('ZRANGE', KEYS[3], 0, 0)[1])"],
  ['ask', "redis.call('DEL', links .. (redis.call('HGET', old, 'link') or ''), ", "redis.call('DEL', "],
  ['ask', ", old .. ':askers', old .. ':source')", ')'],
  ['ask', "redis.call('ZADD', KEYS[3], now, ARGV[1])", ''],
  ['refused', "redis.call('ZREM', KEYS[3]", "redis.call('ZSCORE', KEYS[3]"],
  ['ask', 'if known[2] then', 'if false then'],
  ['ask', 'tonumber(known[3]) > now', 'false'],
  ['ask', 'tonumber(known[3]) > now', 'true'],
  ['ask', "redis.call('HSET', diagram, 'u', now + tonumber(ARGV[8]))", ''],
  ['ask', "redis.call('HINCRBY', diagram, 'n', 1)", '1'],
  ['claim', "(known[2] or '') ~= ARGV[1]", 'false'],
  ['claim', 'not known[1] or', ''],
  ['claim', 'tonumber(known[3]) > now', 'false'],
  ['claim', 'tonumber(known[3]) > now', 'true'],
  ['claim', "redis.call('HDEL', diagram, 'job', 'by', 'e', 'r', 'w')", ''],
  ['claim', "'e', 'r', 'w')", "'e')"],
  ['claim', "redis.call('HSET', diagram, 'u', now + tonumber(ARGV[2]))", ''],
  ['claim', "redis.call('HINCRBY', diagram, 'n', 1)", '1'],
  ['noted', "redis.call('HGET', diagram, 'n') ~= ARGV[1]", 'false'],
  ['noted', "redis.call('HSET', diagram, 'job', ARGV[2], 'by', ARGV[3])", ''],
  ['noted', ", 'by', ARGV[3]", ''],
  ['noted', "redis.call('HGET', diagram, 'job') ~= ARGV[2]", 'true'],
  ['noted', "redis.call('HDEL', diagram, 'e')", ''],
  ['noted', "redis.call('HDEL', diagram, 'u')", ''],
  ['refused', "redis.call('HGET', diagram, 'n') ~= ARGV[1]", 'false'],
  ['refused', "redis.call('HDEL', diagram, 'u')", ''],
  ['refused', "redis.call('HDEL', diagram .. ':askers', ARGV[2])", ''],
  ['refused', "ARGV[1] == '1' and", ''],
  ['refused', "and redis.call('EXISTS', diagram .. ':askers') == 0", ''],
  ['refused', "redis.call('DEL', diagram, KEYS[2])", "redis.call('DEL', diagram)"],
  ['refused', "redis.call('DEL', diagram, KEYS[2])", "redis.call('DEL', KEYS[2])"],
  ['begin', 'if not known[1] then', 'if false then'],
  ['begin', 'known[2] and known[2] ~= ARGV[1]', 'false'],
  ['begin', "redis.call('HSET', diagram, 'job', ARGV[1], 'by', ARGV[2], 'r', ARGV[3])", ''],
  ['begin', ", 'by', ARGV[2]", ''],
  ['begin', ", 'r', ARGV[3]", ''],
  ['record', "redis.call('HGET', KEYS[1], 'job') ~= ARGV[1]", 'false'],
  ['record', "redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])", ''],
  ['claim', ", 'w')", ')'],
  ['join', "redis.call('HLEN', diagram .. ':askers') < 2", 'false'],
  ['join', "redis.call('SET', diagram .. ':source', ARGV[1], 'PX', ARGV[2])", ''],
  ['join', ", 'PX', ARGV[2]", ''],
  ['join', "'NX', clock()", 'clock()'],
  ['settled', "(redis.call('HGET', diagram, 'job') or '') ~= ARGV[1]", 'false'],
  ['settled', "redis.call('DEL', diagram .. ':source')", ''],
  ['settled', "redis.call('ZREM', KEYS[2]", "redis.call('ZSCORE', KEYS[2]"],
  ['strike', 'if not epoch or', 'if'],
  ['strike', 'or (tonumber(epoch) or 0) >= tonumber(ARGV[2])', ''],
  ['strike', '>= tonumber(ARGV[2])', '== tonumber(ARGV[2])'],
  ['strike', '(tonumber(epoch) or 0) >= tonumber(ARGV[2])', 'epoch >= ARGV[2]'],
  ['strike', "redis.call('HDEL', diagram .. ':askers', ARGV[1])", ''],
  ['strike', "if redis.call('EXISTS', diagram .. ':askers') == 1 then", 'if false then'],
  ['strike', "redis.call('HSET', diagram, 'g', clock())", ''],
  ['strike', "redis.call('HINCRBY', diagram, 'n', 1)", ''],
  ['strike', "redis.call('HDEL', diagram, 'job', 'by', 'e', 'u', 'r', 'w')", ''],
  ['strike', "'e', 'u', 'r', 'w')", "'e', 'r', 'w')"],
  ['strike', "'u', 'r', 'w')", "'u', 'w')"],
  ['strike', ", 'w')", ')'],
  ['strike', "redis.call('DEL', diagram .. ':source')", ''],
  ['strike', "redis.call('ZREM', KEYS[2]", "redis.call('ZSCORE', KEYS[2]"],
  ['strike', "redis.call('ZADD', KEYS[2], clock() + tonumber(ARGV[3]), job)", ''],
  ['strike', 'clock() + tonumber(ARGV[3])', 'clock()'],
  ['strike', "if job ~= '' then", 'if true then'],
  ['remember', "redis.call('ZADD', KEYS[1], clock(), ARGV[1])", ''],
  ['remember', "redis.call('ZREMRANGEBYRANK',", 'type('],
  ['remember', "redis.call('PEXPIRE', KEYS[1], ARGV[2])", ''],
  ['forget', '~= tonumber(ARGV[2])', '== nil'],
  ['forget', 'tonumber(ARGV[2])', 'ARGV[2]'],
  ['forget', "redis.call('ZREM', KEYS[1], ARGV[1])", ''],
  ['gone', "redis.call('ZADD', KEYS[1], 0, ARGV[1])", ''],
  ['take', "'-inf', now,", "'-inf', '+inf',"],
  ['take', "'LIMIT', 0, tonumber(ARGV[1])", "'LIMIT', 0, 100"],
  ['take', 'now + tonumber(ARGV[2])', 'now'],
];

class World {
  private readonly prefix = `test-${randomBytes(6).toString('hex')}`;
  readonly id = idOf({ type: 'graphviz', output: 'svg', source: 'a' }, 'r');
  readonly keys: DiagramKeys = keysOf(this.prefix, this.id);
  readonly asked = askedBy(this.prefix, 'trip:1');
  readonly owners = goneKey(this.prefix);
  readonly log: unknown[] = [];

  constructor(
    private readonly redis: Redis,
    private readonly mutant?: Mutant,
  ) {}

  async run(name: string, ...args: (string | number)[]): Promise<unknown> {
    return this.told(name, [this.keys.diagram, this.keys.due], args);
  }

  linkKey(link: string): string {
    return linkKey(this.prefix, this.id[0]! + link);
  }

  /** Requests the diagram with a given short link. */
  async ask(link: string, owner: string, epoch: string, forMs = SOON_MS): Promise<unknown> {
    const args = [this.id, this.id[0]! + link, 'graphviz', 'svg', owner, epoch, KEPT_MS, forMs, 3, 2];
    return this.told('ask', [this.keys.diagram, this.linkKey(link), this.keys.known], args);
  }

  async refused(link: string, ...args: string[]): Promise<void> {
    await this.told('refused', [this.keys.diagram, this.linkKey(link), this.keys.known], args);
  }

  async take(most: number): Promise<void> {
    await this.told('take', [this.keys.due], [most, LATER_MS]);
  }

  /** Spaces the calls, because entries of the same time are ordered by name. */
  async remember(id: string, most: number): Promise<void> {
    const before = await this.now();
    while ((await this.now()) === before);
    await this.told('remember', [this.asked], [id, KEPT_MS, most]);
  }

  /** With the recorded time, and with another. */
  async forget(id: string): Promise<void> {
    const at = Number(await this.redis.zscore(this.asked, id));
    for (const asOf of [at + 1, at]) await this.told('forget', [this.asked], [id, asOf]);
  }

  async gone(owner: string): Promise<void> {
    await this.told('gone', [this.owners], [owner]);
    this.log.push(await this.redis.zrange(this.owners, '0', '-1', 'WITHSCORES'));
  }

  private async now(): Promise<number> {
    const [seconds, micros] = await this.redis.time();
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  }

  /** Ends the claim, as its timeout does. */
  async turnEnds(): Promise<void> {
    await this.redis.hset(this.keys.diagram, 'u', 1);
  }

  async see(): Promise<void> {
    const { redis } = this;
    const { diagram, due } = this.keys;
    const { at, g, u, ...record } = await redis.hgetall(diagram);
    this.log.push({
      record: { ...record, hasTime: at !== undefined, isOver: g !== undefined, turn: await this.inTime(u) },
      askers: await redis.hgetall(`${diagram}:askers`),
      source: await redis.get(`${diagram}:source`),
      due: await Promise.all(
        (await redis.zrange(due, '0', '-1', 'WITHSCORES')).map((each) => this.inTime(each)),
      ),
      links: await Promise.all(['L1', 'L2'].map((link) => redis.get(this.linkKey(link)))),
      known: await redis.zrange(this.keys.known, '0', '-1'),
      others: await redis.exists(...this.keysOfOther('old'), ...this.keysOfOther('young')),
      asked: await redis.zrange(this.asked, '0', '-1'),
      kept: await Promise.all(
        [diagram, `${diagram}:askers`, `${diagram}:source`, this.linkKey('L1'), this.asked].map(async (key) =>
          Math.sign(Math.max(-1, (await redis.pttl(key)) - SOON_MS)),
        ),
      ),
    });
  }

  /** Adds another diagram of the shard, requested at that time. */
  async knows(name: string, agoMs: number): Promise<void> {
    const [diagram, askers, source, link] = this.keysOfOther(name);
    const now = Number((await this.redis.time())[0]) * 1_000;
    await this.redis.hset(diagram!, 'link', this.id[0]! + name);
    await this.redis.mset(source!, 'text', link!, name);
    await this.redis.hset(askers!, '', '');
    await this.redis.zadd(this.keys.known, now - agoMs, name);
  }

  private keysOfOther(name: string): string[] {
    const diagram = this.keys.diagram.replace(this.id, name);
    return [diagram, `${diagram}:askers`, `${diagram}:source`, this.linkKey(name)];
  }

  /** Brings every TTL near its end, so that a script that extends it is seen. */
  async age(): Promise<void> {
    const { diagram } = this.keys;
    for (const key of [diagram, `${diagram}:askers`, this.linkKey('L1'), this.asked])
      await this.redis.pexpire(key, 50_000);
  }

  async end(): Promise<void> {
    const { diagram, due } = this.keys;
    await this.redis.unlink(diagram, `${diagram}:askers`, `${diagram}:source`, due, this.asked, this.owners);
    await this.redis.unlink(this.linkKey('L1'), this.linkKey('L2'), this.keys.known);
    await this.redis.unlink(...this.keysOfOther('old'), ...this.keysOfOther('young'));
  }

  /** Shows times in hundreds of seconds and other values as they are. */
  private async inTime(text: string | undefined): Promise<string | number | undefined> {
    if (text === undefined || !/^\d{6,}$/.test(text)) return text;
    const [seconds] = await this.redis.time();
    return Math.round((Number(text) / 1_000 - Number(seconds)) / 100);
  }

  private async told(
    name: string,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    const text = scriptText(scripts, name, this.mutant);
    const answer = await this.redis.eval(text, keys.length, ...keys, ...args);
    this.log.push([name, answer]);
    return answer;
  }
}

/** Runs every situation of a diagram once; returns all answers and states. */
async function live(world: World, redis: Redis): Promise<unknown[]> {
  for (const name of ['claim', 'begin', 'record', 'join', 'settled'] as const)
    await world.run(name, '', SOON_MS, SOON_MS);
  await world.run('strike', 'trip:1', '9', SOON_MS);
  await world.see();

  await redis.set(world.linkKey('L2'), 'another');
  await world.ask('L2', '', '');
  await world.see();
  await redis.del(world.linkKey('L2'));
  await world.knows('old', 200_000);
  await world.knows('young', 100_000);
  await redis.zadd(world.keys.known, 1, 'dead');
  await world.ask('L1', 'trip:1', '5');
  await world.see();
  await world.ask('L2', 'trip:2', '6');
  await world.run('claim', '', SOON_MS);
  await world.see();
  await world.refused('L1', '2', 'trip:1');
  await world.refused('L1', '1', 'trip:1');
  await world.see();
  await world.refused('L1', '1', '-');
  await world.refused('L1', '1', 'trip:2');
  await world.see();

  await redis.zadd(world.keys.known, 2, 'dead', 9e15, 'other');
  await world.ask('L1', 'trip:1', '5');
  await world.turnEnds();
  await world.ask('L2', 'trip:1', '5');
  await world.run('noted', 1, 'job-0', 'trip:1');
  // It began after its claim had ended.
  await world.run('begin', 'job-late', 'trip:0', 'r late');
  await world.run('record', 'job-late', 'e', '{"message":"late"}');
  await world.run('noted', 2, 'job-1', 'trip:1');
  await world.see();
  await world.run('join', 'text', KEPT_MS, SOON_MS);
  await world.age();
  await world.ask('L2', '', '');
  await world.run('join', 'text', KEPT_MS, SOON_MS);
  await world.run('join', 'text', KEPT_MS, LATER_MS);
  await world.see();
  await world.run('begin', 'job-0', 'trip:0', 'r 0');
  await world.run('begin', 'job-1', 'trip:3', 'r 1');
  await world.run('record', 'job-0', 'e', '{"message":"no"}');
  await world.run('record', 'job-1', 'e', '{"message":"wrong"}');
  await world.run('record', 'job-0', 'w', '["no"]');
  await world.run('record', 'job-1', 'w', '["an image"]');
  await world.see();
  await world.run('settled', 'job-0');
  await world.see();
  await world.run('settled', 'job-1');
  await world.see();

  await world.run('claim', 'job-0', SOON_MS);
  await world.run('claim', 'job-1', SOON_MS);
  await world.run('claim', '', SOON_MS);
  await world.see();
  await world.turnEnds();
  await world.run('claim', '', SOON_MS);
  await world.refused('L1', '4', '');
  await world.see();
  await world.refused('L1', '4', 'trip:1');
  await world.see();
  await world.run('begin', 'job-2', 'trip:1', 'r 2');
  await world.see();

  await world.ask('L2', 'trip:1', '7');
  await world.ask('L2', '', '');
  await world.run('join', 'text', KEPT_MS, SOON_MS);
  await redis.zadd(world.keys.due, 'XX', 1, world.id);
  await redis.zadd(world.keys.due, 2, 'other-1', 3, 'other-2');
  await world.take(2);
  await world.take(9);
  await world.take(9);
  await redis.zrem(world.keys.due, 'other-1', 'other-2');
  await world.see();
  await world.run('strike', 'trip:9', '8', SOON_MS);
  for (const epoch of ['7', '6']) await world.run('strike', 'trip:1', epoch, SOON_MS);
  await world.see();
  await world.run('strike', 'trip:1', '8', SOON_MS);
  await world.see();
  await world.run('claim', 'job-2', SOON_MS);
  await world.run('strike', '', '8', SOON_MS);
  await world.run('noted', 5, 'job-3', '');
  await world.see();
  await world.ask('L2', 'trip:1', '8');
  await world.see();
  // Faster than the process that enqueued it.
  await world.run('begin', 'job-4', 'trip:1', 'r 4');
  await world.run('record', 'job-4', 'e', '{}');
  await world.run('noted', 7, 'job-4', 'trip:1');
  await world.see();
  await world.run('record', 'job-4', 'w', '["a label"]');
  // Compared as numbers.
  await world.run('strike', 'trip:1', '10', SOON_MS);
  await world.see();
  await world.refused('L1', '8', '');
  await world.see();

  await world.ask('L2', 'trip:1', '11');
  await world.ask('L2', 'trip:2', '12');
  await world.ask('L2', 'trip:1', '13');
  await world.see();
  await world.ask('L2', 'trip:3', '14');
  await world.see();

  for (const id of ['a', 'b', 'a', 'c']) await world.remember(id, 2);
  await world.see();
  for (const id of ['a', 'none']) await world.forget(id);
  await world.see();
  for (const owner of ['6 trip:1', '6 trip:1', '7 trip:2']) await world.gone(owner);
  return world.log;
}

describe('the scripts of diagrams', () => {
  let redis: Redis;
  beforeAll(() => void (redis = new Redis(inject('storeUrl'))));
  afterAll(() => redis.quit());

  testScripts(MUTANTS, async (mutant) => {
    const world = new World(redis, mutant);
    try {
      const log = await live(world, redis);
      return log.map((entry) => JSON.stringify(entry).replaceAll(world.id, 'DIAGRAM'));
    } finally {
      await world.end();
    }
  });
});
