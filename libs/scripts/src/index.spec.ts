import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { withoutScriptFlags } from '../../../test/support/old-store.js';
import { runScript, Script, storeTime } from './index.js';

const script = new Script("#!lua flags=allow-oom\nreturn { ARGV[1], 'x' }\n");

describe('a script', () => {
  let redis: Redis;

  beforeEach(() => {
    redis = new Redis(inject('storeUrl'));
  });
  afterEach(() => redis.quit());

  it('runs even when the server does not have it', async () => {
    await redis.script('FLUSH');
    expect(await runScript(redis, script, [], ['a'])).toEqual(['a', 'x']);
    expect(await runScript(redis, script, [], ['b'])).toEqual(['b', 'x']);
  });

  it('runs on a server that rejects script flags', async () => {
    withoutScriptFlags(redis);
    expect(await runScript(redis, script, [], ['a'])).toEqual(['a', 'x']);
    expect(await runScript(redis, script, [], ['b'])).toEqual(['b', 'x']);
  });

  it.each(['return redis.error_reply("ERR told to")', 'return ('])(
    '%s fails without a retry',
    async (text) => {
      await expect(runScript(redis, new Script(text), [], [])).rejects.toThrow(/told to|compiling script/);
    },
  );

  it("can read the store's time", async () => {
    const [seconds] = await redis.time();
    expect(await storeTime(redis)).toBeGreaterThanOrEqual(Number(seconds) * 1_000);
  });
});
