import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { S3Server, S3_KEY } from '../../../../test/support/s3-server.js';
import { readArtifactsUrl } from '../address.js';
import type { ByteStore } from './byte-store.js';
import { FileStore } from './file-store.js';
import type { S3Address } from './s3-client.js';
import { S3Store } from './s3-store.js';

const JOB = 'a/probe-00000000000000000001';
const FILE = '1-aaaaaaaaaaaaaaaaaaaa';
const MANY_BYTES = 5 * 1024 * 1024;

interface Place {
  readonly store: ByteStore;
  /** All files, by path. */
  readonly look: () => Promise<string[]>;
  readonly end: () => Promise<void>;
}

const places: Record<string, () => Promise<Place>> = {
  async files() {
    const folder = await mkdtemp(join(tmpdir(), 'mooring-files-'));
    return {
      store: new FileStore(folder, 'fleet'),
      look: async () => {
        const all = await readdir(folder, { recursive: true, withFileTypes: true });
        return all
          .filter((each) => !each.isDirectory())
          .map((each) => join(each.parentPath, each.name).slice(folder.length + 1));
      },
      end: () => rm(folder, { recursive: true }),
    };
  },
  async s3() {
    const server = await S3Server.start();
    return {
      store: new S3Store(readArtifactsUrl(server.url) as unknown as S3Address, 'fleet'),
      look: () => Promise.resolve([...server.objects.keys()]),
      end: () => server.stop(),
    };
  },
};

/** Both stores behave the same; their callers cannot tell them apart. */
describe.each(Object.keys(places))('bytes in %s', (kind) => {
  let place: Place;
  let store: ByteStore;

  beforeEach(async () => {
    place = await places[kind]!();
    store = place.store;
  });
  afterEach(() => place.end());

  const names = async (shard: string, after: string, limit: number): Promise<readonly string[]> =>
    (await store.folders(shard, after, limit)).names;

  it('are read as they were written, whole or in part', async () => {
    const written = await store.put(JOB, FILE, of('hello ', 'world'), 11);
    expect(written).toEqual({ size: 11, sha256: sha256('hello world') });
    expect(await text((await store.open(JOB, FILE))!)).toBe('hello world');
    expect(await text((await store.open(JOB, FILE, { first: 0, last: 0 }))!)).toBe('h');
    expect(await text((await store.open(JOB, FILE, { first: 6, last: 10 }))!)).toBe('world');
    expect(await text((await store.open(JOB, FILE, { first: 6, last: 10 }, 11))!)).toBe('world');
    expect(await place.look()).toEqual([`fleet/${JOB}/${FILE}`]);
  });

  it('may be empty', async () => {
    expect(await store.put(JOB, FILE, of(), 0)).toEqual({ size: 0, sha256: sha256('') });
    expect(await text((await store.open(JOB, FILE))!)).toBe('');
  });

  it('may be large', async () => {
    const chunk = Buffer.alloc(64 * 1024, 'many ');
    const chunks = Array.from({ length: MANY_BYTES / chunk.length }, () => chunk);
    const whole = Buffer.concat(chunks);
    expect(await store.put(JOB, FILE, of(...chunks), MANY_BYTES)).toEqual({
      size: MANY_BYTES,
      sha256: sha256(whole),
    });
    expect((await buffer((await store.open(JOB, FILE))!)).equals(whole)).toBe(true);
  });

  it('beyond the limit leave nothing', async () => {
    await expect(store.put(JOB, FILE, of('hello ', 'world'), 10)).rejects.toMatchObject({
      code: 'TOO_LARGE',
    });
    expect(await place.look()).toEqual([]);
  });

  it('of a failing source leave nothing', async () => {
    async function* failing(): AsyncGenerator<Buffer> {
      yield Buffer.alloc(2 * 1024 * 1024);
      throw new Error('the source is gone');
    }
    await expect(store.put(JOB, FILE, failing(), MANY_BYTES)).rejects.toThrow('the source is gone');
    expect(await place.look()).toEqual([]);
  });

  it('of another type are refused', async () => {
    const odd = of('text') as AsyncIterable<Uint8Array>;
    async function* texts(): AsyncGenerator<Uint8Array> {
      for await (const each of odd) yield each.toString() as unknown as Uint8Array;
    }
    await expect(store.put(JOB, FILE, texts(), 10)).rejects.toMatchObject({ code: 'INVALID' });
    expect(await place.look()).toEqual([]);
  });

  it('with fewer or more bytes than stored are not found', async () => {
    await store.put(JOB, FILE, of('hello'), 5);
    for (const whole of [0, 4, 6]) expect(await store.open(JOB, FILE, undefined, whole)).toBeUndefined();
    for (const first of [0, 6]) expect(await store.open(JOB, FILE, { first, last: 10 }, 11)).toBeUndefined();
  });

  it('that do not exist are not found, and removing them is no error', async () => {
    expect(await store.open(JOB, FILE)).toBeUndefined();
    await store.remove(JOB, FILE);
    expect(await store.files(JOB)).toEqual([]);
    expect(await names('a', '', 10)).toEqual([]);
  });

  it('are gone when they are removed, and no others are', async () => {
    const other = FILE.replaceAll('a', 'b');
    await store.put(JOB, FILE, of('a'), 10);
    await store.put(JOB, other, of('b'), 10);
    await store.remove(JOB, FILE);
    await store.remove(JOB, FILE);
    expect(await store.files(JOB)).toEqual([other]);
    expect(await text((await store.open(JOB, other))!)).toBe('b');
  });

  it('are listed completely', async () => {
    const files = Array.from({ length: 7 }, (_, i) => `${i + 1}-aaaaaaaaaaaaaaaaaaaa`);
    for (const file of files) await store.put(JOB, file, of(file), 100);
    expect((await store.files(JOB)).toSorted()).toEqual(files);
  });

  it('are found by folder, page by page', async () => {
    const jobs = Array.from({ length: 5 }, (_, i) => `probe-0000000000000000000${i}`);
    for (const job of jobs)
      for (const run of [1, 2]) await store.put(`a/${job}`, `${run}${FILE.slice(1)}`, of('x'), 1);
    await store.put('b/probe-00000000000000000009', FILE, of('x'), 1);
    expect(await names('a', '', 2)).toEqual(jobs.slice(0, 2));
    expect(await names('a', jobs[1]!, 2)).toEqual(jobs.slice(2, 4));
    expect(await names('a', jobs[3]!, 2)).toEqual(jobs.slice(4));
    expect(await names('a', jobs[4]!, 2)).toEqual([]);
    expect((await store.folders('a', jobs[1]!, 2)).isMore).toBe(true);
    expect((await store.folders('a', jobs[2]!, 2)).isMore).toBe(false);
  });

  it('are found by folder with pages of any size, even when repeated', async () => {
    const jobs = Array.from({ length: 7 }, (_, i) => `probe-0000000000000000000${i}`);
    for (const job of jobs) await store.put(`a/${job}`, FILE, of('x'), 1);
    expect(await names('a', '', 3)).toEqual(jobs.slice(0, 3));
    expect(await names('a', jobs[2]!, 1)).toEqual([jobs[3]]);
    expect(await names('a', jobs[2]!, 2)).toEqual(jobs.slice(3, 5));
    expect(await names('b', jobs[4]!, 2)).toEqual([]);
    expect(await names('a', jobs[4]!, 2)).toEqual(jobs.slice(5));
    await store.put('a/probe-00000000000000000009', FILE, of('x'), 1);
    expect(await names('a', '', 9)).toEqual([...jobs, 'probe-00000000000000000009']);
  });

  it.each([
    '..',
    '.',
    '../x',
    '/etc/passwd',
    'a//b',
    '..%2f',
    'a\\b',
    'nul\0',
    '',
    '-x',
    '∕etc',
    'C:x',
    'x'.repeat(300),
  ])('are refused at the path %j', async (path) => {
    for (const [folder, file] of [
      [path, FILE],
      [JOB, path],
    ] as const) {
      await expect(store.put(folder, file, of('x'), 1)).rejects.toThrow('Invalid artifact path');
      await expect(store.open(folder, file)).rejects.toThrow('Invalid artifact path');
      await expect(store.remove(folder, file)).rejects.toThrow('Invalid artifact path');
    }
    expect(await place.look()).toEqual([]);
  });
});

describe('files', () => {
  let base: string;
  let outside: string;
  let store: FileStore;

  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'mooring-files-'));
    outside = await mkdtemp(join(tmpdir(), 'mooring-outside-'));
    await writeFile(join(outside, FILE), 'secret');
    store = new FileStore(base, 'fleet');
  });
  afterEach(async () => {
    await rm(base, { recursive: true });
    await rm(outside, { recursive: true });
  });

  const names = async (shard: string, after: string, limit: number): Promise<readonly string[]> =>
    (await store.folders(shard, after, limit)).names;

  it('that a crash left half-written are listed, never read, and removed', async () => {
    await mkdir(join(base, 'fleet', JOB), { recursive: true });
    await writeFile(join(base, 'fleet', JOB, `${FILE}.part`), 'half');
    expect(await store.open(JOB, FILE)).toBeUndefined();
    expect(await store.files(JOB)).toEqual([FILE]);
    await store.remove(JOB, FILE);
    expect(await readdir(join(base, 'fleet', 'a'))).toEqual([]);
  });

  it.each(['fleet', 'fleet/a', `fleet/${JOB}`])('are not reached through a link at %s', async (link) => {
    const path = join(base, link);
    await mkdir(join(path, '..'), { recursive: true });
    const rest = `fleet/${JOB}`.slice(link.length);
    await mkdir(join(outside, rest), { recursive: true });
    await writeFile(join(outside, rest, FILE), 'secret');
    await symlink(outside, path);
    await expect(store.put(JOB, FILE.replace('1', '2'), of('x'), 1)).rejects.toThrow(
      'contains a symbolic link',
    );
    await expect(store.open(JOB, FILE)).rejects.toThrow('contains a symbolic link');
    await expect(store.remove(JOB, FILE)).rejects.toThrow('contains a symbolic link');
    await expect(store.files(JOB)).rejects.toThrow('contains a symbolic link');
    expect(await readdir(join(outside, rest))).toContain(FILE);
  });

  it.each(['fleet', 'fleet/a', `fleet/${JOB}`])('never create a folder beyond a link at %s', async (link) => {
    const path = join(base, link);
    await mkdir(join(path, '..'), { recursive: true });
    await symlink(outside, path);
    await expect(store.put(JOB, FILE.replace('1', '2'), of('x'), 1)).rejects.toThrow(
      'contains a symbolic link',
    );
    expect(await readdir(outside, { recursive: true })).toEqual([FILE]);
  });

  it('are found by folder with one directory read, however small the pages', async () => {
    const jobs = Array.from({ length: 12 }, (_, i) => `probe-${String(i).padStart(20, '0')}`);
    for (const job of jobs) await mkdir(join(base, 'fleet', 'a', job), { recursive: true });
    const found = [...(await names('a', '', 2))];
    // New folders appear in the next walk.
    await mkdir(join(base, 'fleet', 'a', 'probe-z'));
    while (found.length < jobs.length) found.push(...(await names('a', found.at(-1)!, 2)));
    expect(found).toEqual(jobs);
    expect(await names('a', found.at(-1)!, 2)).toEqual(['probe-z']);
  });

  it('that are links are not followed, and their targets stay', async () => {
    await mkdir(join(base, 'fleet', JOB), { recursive: true });
    await symlink(join(outside, FILE), join(base, 'fleet', JOB, FILE));
    await symlink(join(outside, 'new'), join(base, 'fleet', JOB, `2${FILE.slice(1)}.part`));
    await expect(store.open(JOB, FILE)).rejects.toThrow('ELOOP');
    await expect(store.put(JOB, `2${FILE.slice(1)}`, of('x'), 1)).rejects.toThrow('EEXIST');
    await store.remove(JOB, FILE);
    expect(await readdir(outside)).toEqual([FILE]);
  });

  it('of others are left alone', async () => {
    await mkdir(join(base, 'fleet', JOB), { recursive: true });
    await writeFile(join(base, 'fleet', JOB, 'notes.txt'), 'mine');
    await store.put(JOB, FILE, of('x'), 1);
    expect(await store.files(JOB)).toEqual([FILE]);
    await store.remove(JOB, FILE);
    expect(await readdir(join(base, 'fleet', JOB))).toEqual(['notes.txt']);
  });

  it('can be written while the last other file of the folder is removed', async () => {
    const files = Array.from({ length: 40 }, (_, i) => `${i + 1}${FILE.slice(1)}`);
    await Promise.all(
      files.map(async (file) => {
        await store.put(JOB, file, of(file), 100);
        await store.remove(JOB, file);
      }),
    );
    expect(await store.files(JOB)).toEqual([]);
  });
});

describe('an object store', () => {
  let server: S3Server;
  let store: S3Store;
  const address = (change: Partial<S3Address> = {}): S3Address => ({
    ...(readArtifactsUrl(server.url) as unknown as S3Address),
    ...change,
  });

  beforeEach(async () => {
    server = await S3Server.start();
    store = new S3Store(address(), 'fleet');
  });
  afterEach(() => server.stop());

  it.each(['PUT', 'GET', 'DELETE'])('retries %s twice', async (method) => {
    server.troubles.push({ method, trouble: 'error' }, { method, trouble: 'cut' });
    await store.put(JOB, FILE, of('hello'), 5);
    expect(await text((await store.open(JOB, FILE))!)).toBe('hello');
    await store.remove(JOB, FILE);
    expect(server.objects.size).toBe(0);
    expect(server.troubles).toEqual([]);
  });

  it('stores the bytes once when its answer is lost', async () => {
    server.troubles.push({ method: 'PUT', trouble: 'cut-after-store' });
    await store.put(JOB, FILE, of('hello'), 5);
    expect([...server.objects.values()].map(String)).toEqual(['hello']);
  });

  it('reports an outage that lasts longer', async () => {
    for (let i = 0; i < 3; i += 1) server.troubles.push({ method: 'DELETE', trouble: 'error' });
    await expect(store.remove(JOB, FILE)).rejects.toThrow('answered DELETE');
  });

  it('lists as many pages as needed', async () => {
    server.pageSize = 2;
    const files = Array.from({ length: 5 }, (_, i) => `${i + 1}${FILE.slice(1)}`);
    for (const file of files) await store.put(JOB, file, of('x'), 1);
    expect(await store.files(JOB)).toEqual(files);
  });

  it('reports more folders even if a page has fewer than requested', async () => {
    server.pageSize = 2;
    const jobs = Array.from({ length: 5 }, (_, i) => `probe-0000000000000000000${i}`);
    for (const job of jobs) await store.put(`a/${job}`, FILE, of('x'), 1);
    // Foreign files fill a page of their own.
    for (const name of ['notes-1', 'notes-2', 'notes-3'])
      server.objects.set(`fleet/a/${name}`, Buffer.from('x'));
    expect(await store.folders('a', '', 100)).toEqual({ names: jobs.slice(0, 1), isMore: true });
    expect(await store.folders('a', jobs[0]!, 100)).toEqual({ names: jobs.slice(1, 3), isMore: true });
    expect(await store.folders('a', jobs[2]!, 100)).toEqual({ names: jobs.slice(3), isMore: false });
  });

  it('refuses a wrong secret without revealing it', async () => {
    const stranger = new S3Store(address({ secretKey: 'wrong' }), 'fleet');
    const refusal = await stranger.put(JOB, FILE, of('x'), 1).catch(String);
    expect(refusal).toMatch(/403 \(SignatureDoesNotMatch\)/);
    expect(refusal).not.toMatch(new RegExp(`wrong|${S3_KEY}`));
    expect(server.calls).toHaveLength(1);
  });
});

async function* of(...parts: (string | Buffer)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part as string);
}

function sha256(bytes: string | Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
