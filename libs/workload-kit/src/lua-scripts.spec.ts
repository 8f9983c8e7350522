import { Redis } from 'ioredis';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { LuaScripts } from './lua-scripts.js';

describe('the scripts of a folder', () => {
  let folder: string;
  let redis: Redis;
  let scripts: LuaScripts;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mooring-scripts-'));
    await mkdir(join(folder, 'scripts'));
    await writeFile(join(folder, 'scripts/one.lua'), 'local function one()\n  return 1\nend\n');
    await writeFile(
      join(folder, 'scripts/count.lua'),
      '--- @include one\nreturn { ARGV[1], one(), #KEYS }\n',
    );
    await writeFile(join(folder, 'scripts/time.lua'), '--- @include clock\nreturn clock()\n');
    redis = new Redis(inject('storeUrl'));
    scripts = new LuaScripts(pathToFileURL(join(folder, 'repository.js')).href);
  });
  afterAll(async () => {
    await redis.quit();
    await rm(folder, { recursive: true });
  });

  it('run with the files that they include', async () => {
    expect(await scripts.run(redis, 'count', ['{a}', '{a}b'], ['x'])).toEqual(['x', 1, 2]);
  });

  it('may include the files of the kit', async () => {
    const [seconds] = await redis.time();
    expect(await scripts.run(redis, 'time', [])).toBeGreaterThanOrEqual(Number(seconds) * 1_000);
  });

  it('do not run if an included file does not exist', () => {
    expect(() => scripts.run(redis, 'cuont', [])).toThrow('There is no script cuont.lua.');
  });

  it('are read at the start', () => {
    expect(() => new LuaScripts(pathToFileURL('/nowhere/repository.js').href)).toThrow('ENOENT');
  });
});
