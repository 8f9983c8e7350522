import fc from 'fast-check';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { scriptText, testScripts, type Mutant } from '../../../../test/support/script-mutants.js';
import { keysOf, newSiteId, type SiteKeys } from './site-keys.js';
import { scripts } from './site-repository.js';

const SOON_MS = 100_000;
const LATER_MS = 200_000;

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
  ['offer', "redis.call('SADD', site .. ':offers'", 'type(site'],
  ['offer', "redis.call('ZADD', due, 'LT'", "redis.call('ZADD', due"],
  ['offer', "redis.call('ZADD', due, 'LT'", "redis.call('ZADD', due, 'NX'"],
  ['switch', 'if known[4] or', 'if'],
  ['switch', "redis.call('SREM', site .. ':offers', job) == 0", 'false'],
  ['switch', 'version > tonumber', 'version >= tonumber'],
  ['switch', "version > tonumber(known[2] or '-1')", 'true'],
  ['switch', "'cv', version)", "'cv', '1')"],
  ['switch', "redis.call('HSET', site, 'p', shown)", ''],
  ['switch', 'and shown ~= job', ''],
  ['switch', 'previous ~= job and previous', 'previous'],
  ['switch', 'previous ~= job and previous', 'nil'],
  ['switch', 'local old = job', 'local old'],
  ['switch', '  old = nil\n  if shown', '  if shown'],
  ['switch', 'job == shown or', ''],
  ['switch', ' or job == previous', ''],
  ['switch', "redis.call('ZADD', site .. ':old'", 'type(site'],
  [
    'rest',
    "redis.call('EXISTS', site .. ':offers', site .. ':old')",
    "redis.call('EXISTS', site .. ':offers')",
  ],
  ['switch', '\nrest(site, due)', ''],
  ['drop', "redis.call('SREM', KEYS[1] .. ':offers', ARGV[1])", ''],
  ['drop', "redis.call('ZREM', KEYS[1] .. ':old', ARGV[1])", ''],
  ['drop', '\nrest(KEYS[1], KEYS[2])', ''],
  ['rest', "redis.call('EXISTS', site .. ':offers', site .. ':old')", "redis.call('EXISTS', site .. ':old')"],
  ['rest', 'if isShown and', 'if'],
  ['rest', "tonumber(known[1] or '0') <=", "tonumber(known[1] or '0') <"],
  ['rest', 'and not known[3]', ''],
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

  async offered(job: string, version: number): Promise<void> {
    await this.run('offer', job, SOON_MS);
    await this.run('switch', job, version);
    await this.see();
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
      offers: (await redis.smembers(`${site}:offers`)).toSorted(),
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
    return this.redis.eval(scriptText(scripts, name, this.mutant), keys.length, ...keys, ...args);
  }
}

/** Runs every situation of a site once; returns all answers and states. */
async function live(world: World, redis: Redis): Promise<unknown[]> {
  await world.change('a/0', '{}');
  for (const name of ['asked', 'begin'] as const) await world.run(name, 1, 'j', 3, SOON_MS);
  await world.run('offer', 'j', SOON_MS);
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
  await world.run('switch', 'job-1', 5);
  await world.run('offer', 'job-1', LATER_MS);
  await world.run('offer', 'job-2', SOON_MS);
  await world.run('offer', 'job-0', LATER_MS);
  await world.see();
  for (const [job, version] of [['job-1', 5] as const, ['job-2', 4] as const, ['job-0', 5] as const]) {
    await world.run('switch', job, version);
    await world.run('switch', job, version);
    await world.see();
  }
  for (const job of ['job-2', 'job-0']) await world.run('drop', job);
  await world.see();
  await world.offered('job-3', 6);
  // The current build and the one before are not superseded when they are offered once more.
  for (const [job, version] of [['job-3', 6] as const, ['job-1', 5] as const, ['job-3', 7] as const])
    await world.offered(job, version);
  await world.offered('job-1', 8);
  await world.offered('job-7', 8);
  await world.offered('job-6', 9);
  for (const job of ['job-3', 'job-7']) await world.run('drop', job);
  await world.see();
  await world.run('asked', 8, 'job-6', 3, LATER_MS);
  for (const job of ['job-4', 'job-5']) await world.run('offer', job, SOON_MS);
  for (const job of ['job-4', 'job-5']) {
    await world.run('drop', job);
    await world.see();
  }
  await world.run('asked', 8, 'job-6', 3, LATER_MS);
  await world.see();
  for (const content of ['"2"', '"3"']) await world.change('d/1', content);
  await world.offered('job-4', 10);
  await world.run('drop', 'job-1');
  await world.offered('job-4', 11);

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
  await world.run('offer', 'job-8', SOON_MS);
  await world.run('gone', LATER_MS, 'deletion-1');
  await world.run('gone', SOON_MS, 'deletion-2');
  await world.change('a/1', '"1"');
  for (const name of ['asked', 'begin'] as const) await world.run(name, 1, 'j', 3, SOON_MS);
  await world.run('offer', 'j', SOON_MS);
  await world.run('switch', 'job-8', 90);
  await world.run('drop', 'job-8');
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

  testScripts(MUTANTS, async (mutant) => {
    const world = new World(redis, mutant);
    try {
      const log = await live(world, redis);
      return log.map((entry) => JSON.stringify(entry).replaceAll(world.id, 'SITE'));
    } finally {
      await world.end();
    }
  });

  it('never let readers go back, whatever the order in which builds come to count', async () => {
    const versions = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 2 });
    await fc.assert(
      fc.asyncProperty(versions, async (all) => {
        const world = new World(redis);
        try {
          await world.run('create', 'name', 'N', 'url', 'u', 'pace', 0);
          for (const [i, version] of all.entries()) {
            await world.run('offer', `job-${i}`, SOON_MS);
            await world.run('switch', `job-${i}`, version);
            const newest = Math.max(...all.slice(0, i + 1));
            const shown = [`job-${all.indexOf(newest)}`, String(newest)];
            expect(await redis.hmget(world.keys.site, 'c', 'cv')).toEqual(shown);
          }
        } finally {
          await world.end();
        }
      }),
      { numRuns: 60 },
    );
  });
});
