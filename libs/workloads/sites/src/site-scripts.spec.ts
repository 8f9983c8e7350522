import fc from 'fast-check';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { keysOf, newSiteId, type SiteKeys } from './site-keys.js';
import { scripts } from './site-repository.js';

type Mutant = readonly [script: string, from: string, to: string];

const SOON_MS = 100_000;
const LATER_MS = 200_000;

/** Each mutant removes one guard, or one write that belongs to the step. */
const MUTANTS: readonly Mutant[] = [
  ['create', "redis.call('EXISTS', KEYS[1]) == 1", 'false'],
  ['change', 'if not known[1] or known[4] then', 'if not known[1] then'],
  ['change', 'if not known[1] or known[4] then', 'if known[4] then'],
  ['change', "event == 'deleted' and not old", 'false'],
  ['change', 'count >= tonumber(ARGV[4])', 'count > tonumber(ARGV[4])'],
  ['change', "event == 'created' and count", 'count'],
  ['change', 'newBytes > tonumber(ARGV[5])', 'newBytes >= tonumber(ARGV[5])'],
  ['change', ' and newBytes > bytes', ''],
  ['change', '- (old and #old or 0)', ''],
  ['change', "redis.call('HDEL', site .. ':entities', entity)", ''],
  ['change', "redis.call('ZREM', site .. ':index', entity)", ''],
  ['change', 'count = count - 1', ''],
  ['change', "redis.call('ZADD', site .. ':index', 0, entity)", ''],
  ['change', 'count = old and count or count + 1', 'count = count + 1'],
  ['change', "'v', version,", "'v', known[1],"],
  ['change', 'if asks then', 'do'],
  ['change', "redis.call('HSET', site, 'w', version)", ''],
  ['change', "redis.call('ZADD', due, 'LT'", "redis.call('ZADD', due"],
  ['change', "redis.call('ZADD', due, 'LT'", "redis.call('ZADD', due, 'NX'"],
  ['asked', "or redis.call('HEXISTS', site, 'g') == 1", ''],
  ['asked', "redis.call('EXISTS', site) == 0 or", ''],
  ['asked', 'version >= before', 'true'],
  ['asked', 'version >= before', 'version > before'],
  ['asked', ", 'aj', ARGV[2]", ''],
  ['asked', "HSET', site, 'a', version, ", "HSET', site, "],
  ['asked', 'if version == before', 'if false'],
  ['asked', 'if version == before', 'if true'],
  ['asked', "due, 'XX',", 'due,'],
  ['asked', "'NX', clock()", 'clock()'],
  ['asked', "redis.call('ZREMRANGEBYRANK',", 'type('],
  ['begin', "or redis.call('HEXISTS', site, 'g') == 1", ''],
  ['begin', "redis.call('EXISTS', site) == 0 or", ''],
  ['begin', "redis.call('ZADD', site .. ':builds'", 'type(site'],
  ['begin', "redis.call('ZREMRANGEBYRANK',", 'type('],
  ['offer', "or redis.call('HEXISTS', site, 'g') == 1", ''],
  ['offer', "redis.call('EXISTS', site) == 0 or", ''],
  ['offer', 'tonumber(fence) > tonumber(ARGV[3])', 'false'],
  ['offer', "redis.call('HSET', site .. ':offers'", 'type(site'],
  ['offer', "redis.call('ZADD', due, 'LT'", "redis.call('ZADD', due"],
  ['offer', "redis.call('ZADD', due, 'LT'", "redis.call('ZADD', due, 'NX'"],
  ['switch', 'if not version then', 'if false then'],
  ['switch', 'if known[4] then', 'if false then'],
  ['switch', 'version > current or', 'true or'],
  ['switch', 'version == current and fence > currentFence', 'false'],
  ['switch', 'version == current and fence > currentFence', 'version == current'],
  ['switch', "'cv', version,", ''],
  ['switch', ", 'cf', fence", ''],
  ['switch', "redis.call('HSET', site, 'p', shown)", ''],
  ['switch', 'and shown ~= job', ''],
  ['switch', 'previous ~= job and previous', 'previous'],
  ['switch', 'previous ~= job and previous', 'nil'],
  ['switch', 'local old = job', 'local old'],
  ['switch', '  old = nil\n  if shown', '  if shown'],
  ['switch', 'job == shown or', ''],
  ['switch', ' or job == previous', ''],
  ['switch', "redis.call('ZADD', site .. ':old'", 'type(site'],
  ['removed', "redis.call('ZREM', KEYS[1] .. ':old', ARGV[1])", ''],
  ['removed', '\nrest(KEYS[1], KEYS[2])', ''],
  [
    'switch',
    "redis.call('EXISTS', site .. ':offers', site .. ':old')",
    "redis.call('EXISTS', site .. ':offers')",
  ],
  ['switch', "redis.call('HDEL', site .. ':offers', job)", ''],
  ['switch', '\nrest(site, due)', ''],
  ['drop', "redis.call('HGET', KEYS[1] .. ':offers', ARGV[1]) == ARGV[2]", 'true'],
  ['drop', "redis.call('HDEL', KEYS[1] .. ':offers', ARGV[1])", ''],
  ['drop', '\nrest(KEYS[1], KEYS[2])', ''],
  ['drop', "redis.call('EXISTS', site .. ':offers', site .. ':old')", "redis.call('EXISTS', site .. ':old')"],
  ['switch', 'if isShown and', 'if'],
  ['switch', "tonumber(known[1] or '0') <=", "tonumber(known[1] or '0') <"],
  ['drop', 'and not known[3]', ''],
  ['gone', "or redis.call('HEXISTS', site, 'g') == 1", ''],
  ['gone', "redis.call('EXISTS', site) == 0 or", ''],
  ['gone', "redis.call('HSET', site, 'g', ARGV[2])", ''],
  ['gone', "'g', ARGV[2])", "'g', '')"],
  ['gone', "redis.call('UNLINK', site .. ':entities', site .. ':index')", ''],
  ['gone', "redis.call('ZADD', due, clock() + tonumber(ARGV[1])", "redis.call('ZADD', due, clock()"],
  ['forget', "redis.call('HEXISTS', site, 'g') == 0", 'false'],
  ['forget', "redis.call('EXISTS', site) == 1 and", ''],
  [
    'forget',
    "redis.call('DEL', site, site .. ':builds', site .. ':offers', site .. ':old')",
    "redis.call('DEL', site)",
  ],
  ['forget', ", site .. ':old')", ')'],
  ['forget', "redis.call('ZREM', due", "redis.call('ZSCORE', due"],
  ['take', "'-inf', now,", "'-inf', '+inf',"],
  ['take', "'LIMIT', 0, tonumber(ARGV[1])", "'LIMIT', 0, 100"],
  ['take', 'now + tonumber(ARGV[2])', 'now'],
];

class World {
  readonly id = newSiteId();
  readonly keys: SiteKeys = keysOf(`test-${randomBytes(6).toString('hex')}`, this.id);
  readonly log: unknown[] = [];

  constructor(
    private readonly redis: Redis,
    private readonly mutant?: Mutant,
  ) {}

  async run(name: string, ...args: (string | number)[]): Promise<unknown> {
    const answer = await this.ask(name, [this.keys.site, this.keys.due], args);
    this.log.push([name, answer]);
    return answer;
  }

  /** `take` uses the due list only. */
  async take(most: number): Promise<void> {
    this.log.push(['take', await this.ask('take', [this.keys.due], [most, LATER_MS])]);
  }

  change(entity: string, what: string, asks = 1, most = 2, bytes = 20): Promise<unknown> {
    return this.run('change', entity, what, asks, most, bytes, SOON_MS);
  }

  async dueNow(): Promise<void> {
    const [seconds] = await this.redis.time();
    await this.redis.zadd(this.keys.due, 'XX', Number(seconds) * 1_000, this.id);
  }

  async see(): Promise<void> {
    const { redis } = this;
    const { site, due } = this.keys;
    const { at, ...record } = await redis.hgetall(site);
    this.log.push({
      record: { ...record, hasTime: at !== undefined },
      entities: await redis.hgetall(`${site}:entities`),
      index: await redis.zrange(`${site}:index`, '0', '-1'),
      builds: await redis.zrange(`${site}:builds`, '0', '-1'),
      offers: await redis.hgetall(`${site}:offers`),
      old: (await redis.zrange(`${site}:old`, '0', '-1')).toSorted(),
      due: await this.whenDue(due),
    });
  }

  async end(): Promise<void> {
    const { site, due } = this.keys;
    const parts = ['entities', 'index', 'builds', 'offers', 'old'].map((part) => `${site}:${part}`);
    await this.redis.unlink(site, due, ...parts);
  }

  /** About when, in hundreds of seconds. */
  private async whenDue(due: string): Promise<number[]> {
    const [seconds] = await this.redis.time();
    const scores = await this.redis.zrange(due, '0', '-1', 'WITHSCORES');
    return scores
      .filter((_, i) => i % 2 === 1)
      .map((score) => Math.round((Number(score) / 1_000 - Number(seconds)) / 100));
  }

  private ask(name: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    if (this.mutant?.[0] !== name) return scripts.run(this.redis, name, keys, args);
    const [, from, to] = this.mutant;
    const text = scripts.text(name);
    if (!text.includes(from)) throw new Error(`${name} does not hold ${from}`);
    return this.redis.eval(text.replace(from, to), keys.length, ...keys, ...args);
  }
}

/** Runs every situation of a site once; returns all answers and states. */
async function live(world: World, redis: Redis): Promise<unknown[]> {
  await world.change('a/0', '{}');
  for (const name of ['asked', 'begin', 'offer'] as const) await world.run(name, 1, 'j', 3, SOON_MS);
  await world.run('gone', SOON_MS, 'deletion-0');
  await world.see();
  await world.run('create', 'name', 'N', 'url', 'u', 'pace', 0);
  await world.run('create', 'name', 'M', 'url', 'u', 'pace', 0);
  await world.change('a/1', '"12345678"');
  await world.change('a/1', '"123456"');
  await world.change('b/1', '"12"', 0);
  await world.see();
  await world.change('c/1', '"1"');
  await world.change('b/1', '"1234567890"');
  await world.change('b/1', '"12345678901"');
  await world.change('b/1', '"12345678"', 1, 2, 9);
  await world.see();
  await world.change('b/1', '');
  await world.change('b/1', '');
  await world.see();
  // The reconciler has not requested a build in time: the site is postponed, then made due sooner by the next
  // change.
  await redis.zadd(world.keys.due, 'XX', 1, world.id);
  await redis.zadd(world.keys.due, 2, 'other-1', 3, 'other-2');
  await world.take(2);
  await world.take(9);
  await redis.zrem(world.keys.due, 'other-1', 'other-2');
  await world.take(9);
  await world.see();
  await world.change('d/1', '"1"');
  await world.see();
  await world.dueNow();
  await world.change('d/1', '"3"');
  await world.see();

  await world.run('asked', 2, 'job-1', 3, LATER_MS);
  await world.see();
  // Requested before and not shown yet: the site is postponed.
  for (const [version, job] of [[8, 'job-2'] as const, [8, 'job-3'] as const, [7, 'job-1'] as const]) {
    await world.run('asked', version, job, 3, LATER_MS);
    await world.see();
  }
  await world.run('switch', 'job-1');
  await world.run('offer', 'job-1', 5, 7, LATER_MS);
  await world.run('offer', 'job-1', 4, 6, SOON_MS);
  await world.run('offer', 'job-1', 5, 7, SOON_MS);
  await world.run('offer', 'job-2', 4, 9, SOON_MS);
  await world.run('offer', 'job-0', 5, 6, LATER_MS);
  await world.see();
  for (const job of ['job-1', 'job-2', 'job-0', 'job-1']) {
    await world.run('switch', job);
    await world.see();
  }
  for (const job of ['job-2', 'job-0']) await world.run('removed', job);
  await world.see();
  await world.run('offer', 'job-3', 5, 8, SOON_MS);
  await world.run('switch', 'job-3');
  await world.run('offer', 'job-3', 5, 9, SOON_MS);
  await world.run('switch', 'job-3');
  await world.see();
  // The current build and the one before are not superseded, whatever is offered of them.
  for (const [job, version, fence] of [['job-3', 5, 8] as const, ['job-1', 4, 1] as const]) {
    await world.run('offer', job, version, fence, SOON_MS);
    await world.run('switch', job);
    await world.see();
  }
  await world.run('offer', 'job-1', 6, 1, SOON_MS);
  await world.run('switch', 'job-1');
  await world.see();
  await world.run('offer', 'job-6', 8, 9, SOON_MS);
  await world.run('switch', 'job-6');
  await world.see();
  await world.run('removed', 'job-3');
  await world.see();
  await world.run('asked', 8, 'job-6', 3, LATER_MS);
  await world.run('offer', 'job-4', 8, 9, SOON_MS);
  await world.run('offer', 'job-5', 9, 9, SOON_MS);
  await world.run('drop', 'job-4', '7|9');
  await world.see();
  await world.run('drop', 'job-4', '8|9');
  await world.see();
  await world.run('drop', 'job-5', '9|9');
  await world.see();
  await world.run('asked', 8, 'job-6', 3, LATER_MS);
  await world.see();
  await world.change('d/1', '"2"');
  await world.run('offer', 'job-4', 9, 9, SOON_MS);
  await world.run('switch', 'job-4');
  await world.see();
  await world.run('removed', 'job-1');
  await world.run('offer', 'job-4', 9, 10, SOON_MS);
  await world.run('switch', 'job-4');
  await world.see();

  // A build keeps the position of its first record.
  const { site } = world.keys;
  await redis.zadd(`${site}:builds`, 5, 'job-5', 6, 'job-6');
  await world.run('asked', 0, 'job-5', 3, SOON_MS);
  await world.run('asked', 0, 'job-1', 3, SOON_MS);
  await world.run('begin', 'job-7', 3);
  await world.run('begin', 'job-7', 3);
  await world.see();
  await world.run('asked', 0, 'job-9', 3, SOON_MS);
  await world.see();

  await world.run('forget');
  await world.run('offer', 'job-8', 90, 90, SOON_MS);
  await world.run('gone', LATER_MS, 'deletion-1');
  await world.run('gone', SOON_MS, 'deletion-2');
  await world.change('a/1', '"1"');
  for (const name of ['asked', 'begin', 'offer'] as const) await world.run(name, 1, 'j', 3, SOON_MS);
  await world.run('switch', 'job-8');
  await world.run('drop', 'job-8', '90|90');
  await world.see();
  await redis.zadd(`${site}:old`, 1, 'job-2');
  await world.run('forget');
  await world.run('forget');
  await world.see();
  return world.log;
}

describe('the scripts of sites', () => {
  let redis: Redis;
  beforeAll(() => void (redis = new Redis(inject('storeUrl'))));
  afterAll(() => redis.quit());

  async function lived(mutant?: Mutant): Promise<string> {
    const world = new World(redis, mutant);
    try {
      const log = await live(world, redis);
      return JSON.stringify(log, undefined, 1).replaceAll(world.id, 'SITE');
    } catch (error) {
      return String(error);
    } finally {
      await world.end();
    }
  }

  it('give the recorded answers and writes', async () => {
    expect(JSON.parse(await lived())).toMatchSnapshot();
  });

  it.each(MUTANTS)('%s: the log changes when "%s" becomes "%s"', async (...mutant) => {
    const [whole, mutated] = [await lived(), await lived(mutant)];
    expect(mutated).not.toBe(whole);
    expect(mutated).not.toContain('compiling');
  });

  it('never let readers go back, whatever the order in which builds come to count', async () => {
    const offers = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 6 })), {
      selector: ([, fence]) => fence,
      minLength: 2,
    });
    await fc.assert(
      fc.asyncProperty(offers, async (all) => {
        const world = new World(redis);
        try {
          await world.run('create', 'name', 'N', 'url', 'u', 'pace', 0);
          let newest = [0, 0];
          for (const [version, fence] of all) {
            await world.run('offer', `job-${fence}`, version, fence, SOON_MS);
            await world.run('switch', `job-${fence}`);
            if (version > newest[0]! || (version === newest[0] && fence > newest[1]!))
              newest = [version, fence];
            expect(await redis.hmget(world.keys.site, 'cv', 'cf', 'c')).toEqual([
              String(newest[0]),
              String(newest[1]),
              `job-${newest[1]}`,
            ]);
          }
        } finally {
          await world.end();
        }
      }),
      { numRuns: 60 },
    );
  });
});
