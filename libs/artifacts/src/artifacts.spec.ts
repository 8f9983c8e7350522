import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { withoutScriptFlags } from '../../../test/support/old-store.js';
import { Artifacts } from './artifacts.js';
import { fleetIn, madeIn, manifestOf, shardOf, shards } from './keys.js';
import type { ByteStore } from './stores/byte-store.js';
import { FileStore } from './stores/file-store.js';

const JOB = 'probe-00000000000000000001';
const RUN = { jobId: JOB, fence: '7' };
const OTHER_RUN = { jobId: JOB, fence: '12' };
const MOST_A_JOB = 1_000;

describe('artifacts', () => {
  let redis: Redis;
  let prefix: string;
  let folder: string;
  let bytes: ByteStore;
  let artifacts: Artifacts;

  beforeEach(async () => {
    redis = new Redis(inject('storeUrl'));
    prefix = `test-${randomBytes(6).toString('hex')}`;
    folder = await mkdtemp(join(tmpdir(), 'mooring-artifacts-'));
    bytes = new FileStore(folder, prefix);
    artifacts = new Artifacts(redis, prefix, bytes);
  });
  afterEach(async () => {
    await redis.unlink(fleetIn(prefix), ...(await keysLeft()));
    await redis.quit();
    await rm(folder, { recursive: true });
  });

  it('are those of the requested run', async () => {
    const put = await artifacts.put(RUN, 'a.txt', 'hello', { contentType: 'text/plain' });
    expect([await artifacts.list(JOB, '12'), await open('a.txt', '12')]).toEqual([[], undefined]);
    const sha256 = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';
    expect(put).toEqual({ name: 'a.txt', size: 5, contentType: 'text/plain', sha256 });
    expect(await artifacts.list(JOB, '7')).toEqual([put]);
    expect(await read('a.txt')).toBe('hello');
    expect(await text((await artifacts.open(JOB, 'a.txt', { first: 1, last: 2 }, '7'))!.bytes)).toBe('el');
    expect(await open('b.txt')).toBeUndefined();
  });

  it('work on a server that rejects script flags', async () => {
    withoutScriptFlags(redis);
    await artifacts.put(RUN, 'a', 'x');
    expect((await artifacts.list(JOB, '7')).map(({ name }) => name)).toEqual(['a']);
    expect(await artifacts.removeAll(JOB)).toBe(1);
  });

  it('of an overtaken run never show, whenever it stores them', async () => {
    await artifacts.put(RUN, 'a', 'old');
    await artifacts.put(OTHER_RUN, 'a', 'new');
    await artifacts.put(RUN, 'late', 'older');
    expect((await artifacts.list(JOB, '12')).map(({ name }) => name)).toEqual(['a']);
    expect(await read('a', '12')).toBe('new');
  });

  it('of a run whose fence begins like that of another are separate', async () => {
    await artifacts.put(OTHER_RUN, 'a', 'x');
    expect(await artifacts.list(JOB, '1')).toEqual([]);
  });

  it('of one name are one: the last one written', async () => {
    for (const [name, what] of [
      ['b', '1'],
      ['a', '2'],
      ['b', '3'],
    ] as const)
      await artifacts.put(RUN, name, what);
    expect((await artifacts.list(JOB, '7')).map(({ name }) => name)).toEqual(['a', 'b']);
    expect(await read('b')).toBe('3');
  });

  it('are removed completely, of every run, with every key; a repeat does nothing', async () => {
    await artifacts.put(RUN, 'a', 'x');
    await artifacts.put(RUN, 'b', 'x');
    await artifacts.put(OTHER_RUN, 'a', 'x');
    const other = { jobId: 'probe-00000000000000000002', fence: '7' };
    await artifacts.put(other, 'a', 'x');
    expect([await artifacts.removeAll(JOB), await artifacts.removeAll(JOB)]).toEqual([3, 0]);
    expect(await filesLeft()).toEqual([`${shardOf(other.jobId)}/${other.jobId}`]);
    await artifacts.removeAll(other.jobId);
    expect([await keysLeft(), await filesLeft()]).toEqual([[], []]);
  });

  it('of one run are removed, and those of other runs stay', async () => {
    await artifacts.put(RUN, 'a', 'x');
    await artifacts.put({ jobId: JOB, fence: '70' }, 'a', 'of a new life');
    await artifacts.removeRun(JOB, '7');
    expect(await read('a', '70')).toBe('of a new life');
    expect(await artifacts.removeAll(JOB)).toBe(1);
    await artifacts.put(RUN, 'a', 'x');
    await artifacts.removeRun(JOB, '7');
    await artifacts.removeRun(JOB, '7');
    expect([await keysLeft(), await filesLeft()]).toEqual([[], []]);
  });

  it('of a run that no longer counts are removed after they were stored', async () => {
    await artifacts.put(RUN, 'a', 'x');
    const check = (): void => {
      throw new Error('it has ended');
    };
    await expect(artifacts.put({ ...RUN, check }, 'late', 'x')).rejects.toThrow('it has ended');
    expect((await artifacts.list(JOB, '7')).map(({ name }) => name)).toEqual(['a']);
    expect(await artifacts.removeAll(JOB)).toBe(1);
  });

  it('that were already removed are no error', async () => {
    await artifacts.put(RUN, 'a', 'x');
    await rm(join(folder, prefix, shardOf(JOB)), { recursive: true });
    expect(await open('a')).toBeUndefined();
    expect(await artifacts.removeAll(JOB)).toBe(1);
    expect(await keysLeft()).toEqual([]);
  });

  it('that cannot be removed keep their index entries', async () => {
    for (const name of ['a', 'b', 'c']) await artifacts.put(RUN, name, 'x');
    let calls = 0;
    const broken = new Artifacts(redis, prefix, {
      ...portOf(bytes),
      remove: (...args) => ((calls += 1) === 2 ? Promise.reject(new Error('away')) : bytes.remove(...args)),
    });
    await expect(broken.removeAll(JOB)).rejects.toThrow('away');
    expect(await redis.hlen(manifestOf(prefix, JOB))).toBe(4);
    expect(await artifacts.removeAll(JOB)).toBe(3);
    expect([await keysLeft(), await filesLeft()]).toEqual([[], []]);
  });

  it('that are stored during their removal do not stay', async () => {
    async function* meanwhile(): AsyncGenerator<Buffer> {
      yield Buffer.from('x');
      await artifacts.removeAll(JOB);
      yield Buffer.from('y');
    }
    await expect(artifacts.put(RUN, 'a', meanwhile())).rejects.toMatchObject({ code: 'REMOVED' });
    expect([await keysLeft(), await filesLeft()]).toEqual([[], []]);
  });

  it('that are removed between their bytes and their entry do not stay', async () => {
    const late = new Artifacts(redis, prefix, {
      ...portOf(bytes),
      put: async (...args) => {
        await artifacts.removeAll(JOB);
        return bytes.put(...args);
      },
    });
    await expect(late.put(RUN, 'a', 'x')).rejects.toMatchObject({ code: 'REMOVED' });
    expect([await keysLeft(), await filesLeft()]).toEqual([[], []]);
  });

  it('that are too large, or whose source fails, leave nothing', async () => {
    await expect(artifacts.put(RUN, 'a', 'hello', { maxBytes: 4 })).rejects.toMatchObject({
      code: 'TOO_LARGE',
    });
    expect((await artifacts.put(RUN, 'a', 'hello', { maxBytes: 5 })).size).toBe(5);
    await artifacts.removeAll(JOB);
    const small = new Artifacts(redis, prefix, bytes, 3);
    await expect(small.put(RUN, 'a', 'hello', { maxBytes: 9 })).rejects.toMatchObject({ code: 'TOO_LARGE' });
    expect([await keysLeft(), await filesLeft()]).toEqual([[], []]);
  });

  it('are limited in number for each job', async () => {
    const fields = Array.from({ length: MOST_A_JOB - 1 }, (_, i) => [`7/${i}`, '0|']).flat();
    await redis.hset(manifestOf(prefix, JOB), ...fields, 'n', 5);
    await artifacts.put(RUN, 'last', 'x');
    await expect(artifacts.put(RUN, 'one more', 'x')).rejects.toMatchObject({ code: 'TOO_MANY' });
    expect((await artifacts.list(JOB, '7')).map(({ name }) => name)).toEqual(['last']);
  });

  describe('when the writing process is killed', () => {
    const dying = (at: 'before' | 'after'): Artifacts =>
      new Artifacts(redis, prefix, {
        ...portOf(bytes),
        put: async (...args) => {
          if (args[0] === 'fleets') return bytes.put(...args);
          if (at === 'after') await bytes.put(...args);
          // Like a killed process: nothing follows.
          return new Promise(() => undefined);
        },
      });

    it.each(['before', 'after'] as const)(
      '%s its bytes, never show, and are removed with the job',
      async (at) => {
        void dying(at).put(RUN, 'a', 'x');
        const isThere = async (): Promise<boolean> => (await redis.hlen(manifestOf(prefix, JOB))) === 2;
        await expect.poll(isThere).toBe(true);
        if (at === 'after') await expect.poll(filesLeft).toHaveLength(1);
        expect(await artifacts.list(JOB, '7')).toEqual([]);
        expect(await artifacts.removeAll(JOB)).toBe(1);
        expect([await keysLeft(), await filesLeft()]).toEqual([[], []]);
      },
    );

    it('halfway through its bytes, leave a part that is removed with the job', async () => {
      await redis.hset(manifestOf(prefix, JOB), `7/${'x'.repeat(20)}`, '0|');
      await redis.zadd(madeIn(prefix, shardOf(JOB)), 1, JOB);
      const place = join(folder, prefix, shardOf(JOB), JOB);
      await mkdir(place, { recursive: true });
      await writeFile(join(place, `7-${'x'.repeat(20)}.part`), 'hal');
      expect(await artifacts.removeAll(JOB)).toBe(1);
      expect([await keysLeft(), await filesLeft()]).toEqual([[], []]);
    });
  });

  describe('are listed', () => {
    const ids = Array.from({ length: 300 }, (_, i) => `probe-${String(i).padStart(20, '0')}`);

    it("job by job, each with the time of its last write by the store's clock", async () => {
      const [seconds] = await redis.time();
      await Promise.all(ids.map((jobId) => artifacts.put({ jobId, fence: '1' }, 'a', 'x')));
      const seen = await walkAll();
      expect([...seen.keys()].toSorted()).toEqual(ids);
      expect(Math.min(...seen.values())).toBeGreaterThanOrEqual(Number(seconds) * 1_000);
    });

    it('even if only bytes exist, which count from the time they were first seen', async () => {
      await artifacts.put(RUN, 'a', 'x');
      await redis.unlink(...(await keysLeft()));
      const first = await walkAll();
      expect([...first.keys()]).toEqual([JOB]);
      expect(await walkAll()).toEqual(first);
      await artifacts.removeAll(JOB);
      expect([await keysLeft(), await filesLeft(), (await walkAll()).size]).toEqual([[], [], 0]);
    });

    it('by a dry run, which writes no entries', async () => {
      await artifacts.put(RUN, 'a', 'x');
      await redis.unlink(...(await keysLeft()));
      expect([...(await walkAll(true)).keys()]).toEqual([JOB]);
      expect(await keysLeft()).toEqual([]);
      await walkAll();
      await artifacts.removeAll(JOB);
    });

    it('without foreign files', async () => {
      await mkdir(join(folder, prefix, 'a', 'notes of mine'), { recursive: true });
      await mkdir(
        join(
          folder,
          prefix,
          shards.find((each) => each !== shardOf(JOB))!,
          JOB,
        ),
        { recursive: true },
      );
      expect((await walkAll()).size).toBe(0);
    });

    async function walkAll(dryRun = false): Promise<Map<string, number>> {
      const seen = new Map<string, number>();
      let position: string | undefined;
      do {
        const page = await artifacts.walk(position, 7, dryRun);
        for (const { jobId, since } of page.jobs) seen.set(jobId, since);
        position = page.position ?? undefined;
      } while (position);
      return seen;
    }
  });

  it.each(['a.txt', 'Übersicht 2026.pdf', '✓', '.hidden', '...', 'a'.repeat(200), '%2e%2e%2f'])(
    'may be named %j',
    async (name) => {
      await artifacts.put(RUN, name, 'x');
      expect((await artifacts.list(JOB, '7')).map((each) => each.name)).toEqual([name]);
      expect((await filesLeft()).join()).not.toContain(name);
    },
  );

  it.each([
    '',
    '.',
    '..',
    '../x',
    '/etc/passwd',
    'a\\b',
    'nul\0',
    'a\nb',
    '\u202egpj.exe',
    '\ud800',
    'a'.repeat(201),
  ])('may not be named %j', async (name) => {
    await expect(artifacts.put(RUN, name, 'x')).rejects.toMatchObject({ code: 'INVALID' });
    expect(await keysLeft()).toEqual([]);
  });

  it.each(['text', 'text/plain\r\nx: y', 'text/html; a="b"', ''])(
    'are refused with the type %j',
    async (contentType) => {
      await expect(artifacts.put(RUN, 'a', 'x', { contentType })).rejects.toMatchObject({ code: 'INVALID' });
    },
  );

  it('belong only to jobs with valid ids', async () => {
    await expect(artifacts.put({ jobId: '../x', fence: '1' }, 'a', 'x')).rejects.toMatchObject({
      code: 'INVALID',
    });
    expect(await artifacts.list('../x', '1')).toEqual([]);
  });

  function open(name: string, fence = RUN.fence): ReturnType<Artifacts['open']> {
    return artifacts.open(JOB, name, undefined, fence);
  }

  async function read(name: string, fence?: string): Promise<string> {
    return text((await open(name, fence))!.bytes);
  }

  async function keysLeft(): Promise<string[]> {
    const keys = new Set<string>();
    for await (const page of redis.scanStream({ match: `${prefix}:*`, count: 1_000 }))
      for (const key of page as string[]) keys.add(key);
    keys.delete(fleetIn(prefix));
    return [...keys];
  }

  /** The folders of jobs that have files. */
  async function filesLeft(): Promise<string[]> {
    const all = await readdir(folder, { recursive: true, withFileTypes: true });
    const folders = all.filter((each) => each.isFile()).map(({ parentPath }) => parentPath);
    const names = folders.map((path) => path.slice(join(folder, prefix).length + 1));
    return [...new Set(names.filter((name) => name !== 'fleets'))];
  }
});

/** The methods of a store, so that a test can replace some. */
function portOf(bytes: ByteStore): ByteStore {
  return {
    put: (...args) => bytes.put(...args),
    open: (...args) => bytes.open(...args),
    remove: (...args) => bytes.remove(...args),
    files: (...args) => bytes.files(...args),
    folders: (...args) => bytes.folders(...args),
  };
}
