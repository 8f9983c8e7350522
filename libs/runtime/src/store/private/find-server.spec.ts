import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findServer } from './find-server.js';

describe('the server program', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mooring-path-'));
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  const place = async (path: string, mode = 0o755): Promise<string> => {
    const file = join(folder, path);
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(file, '');
    await chmod(file, mode);
    return file;
  };
  const path = (...names: string[]): string => names.map((name) => join(folder, name)).join(delimiter);

  it('is undefined if the PATH is empty or contains none', async () => {
    await place('a/redis-cli');
    expect(findServer('')).toBeUndefined();
    expect(findServer(path('a', 'missing'))).toBeUndefined();
  });

  it('is the first of its name', async () => {
    const [first] = [await place('b/redis-server'), await place('c/redis-server')];
    expect(findServer(path('a', 'b', 'c'))).toBe(first);
  });

  it('may be Valkey when there is no Redis', async () => {
    const valkey = await place('a/valkey-server');
    expect(findServer(path('a', 'b'))).toBe(valkey);
    const redis = await place('b/redis-server');
    expect(findServer(path('a', 'b'))).toBe(redis);
  });

  it('is an executable file', async () => {
    await place('a/redis-server', 0o644);
    const runs = await place('b/redis-server', 0o755);
    expect(findServer(path('a', 'b'))).toBe(runs);
  });

  it('is not a folder', async () => {
    await mkdir(join(folder, 'a/redis-server'), { recursive: true });
    expect(findServer(path('a'))).toBeUndefined();
  });
});
