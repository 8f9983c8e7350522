import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { S3Server } from '../../../test/support/s3-server.js';
import { readArtifactsUrl } from './address.js';
import { Artifacts } from './artifacts.js';
import { fleetIn, shardOf } from './keys.js';
import type { ByteStore } from './stores/byte-store.js';
import { FileStore } from './stores/file-store.js';
import type { S3Address } from './stores/s3-client.js';
import { S3Store } from './stores/s3-store.js';

const JOB = 'probe-00000000000000000001';
const OTHER_JOB = 'probe-00000000000000000002';

/** Two fleets with one place for their bytes and a Redis each, here a prefix each. */
describe.each(['files', 's3'])('a fleet next to another, in %s', (kind) => {
  let redis: Redis;
  let prefixes: string[];
  let openBytes: () => ByteStore;
  let end: () => Promise<unknown>;
  let ours: Artifacts;
  let theirs: Artifacts;

  beforeEach(async () => {
    redis = new Redis(inject('storeUrl'));
    prefixes = ['a', 'b'].map((name) => `test-${randomBytes(6).toString('hex')}-${name}`);
    if (kind === 's3') {
      const server = await S3Server.start();
      const address = readArtifactsUrl(server.url) as unknown as S3Address;
      openBytes = () => new S3Store(address, 'mooring');
      end = () => server.stop();
    } else {
      const folder = await mkdtemp(join(tmpdir(), 'mooring-artifacts-'));
      openBytes = () => new FileStore(folder, 'mooring');
      end = () => rm(folder, { recursive: true });
    }
    [ours, theirs] = prefixes.map((prefix) => new Artifacts(redis, prefix, openBytes())) as [
      Artifacts,
      Artifacts,
    ];
  });
  afterEach(async () => {
    for (const each of [ours, theirs]) await each.removeAll(JOB);
    await redis.unlink(...prefixes.map(fleetIn));
    await end();
    await redis.quit();
  });

  it('never counts its own bytes as left behind, whichever fleet was first', async () => {
    await ours.put({ jobId: JOB, fence: '1' }, 'a', 'ours');
    await theirs.put({ jobId: OTHER_JOB, fence: '1' }, 'a', 'theirs');
    for (const [artifacts, own] of [
      [ours, JOB],
      [theirs, OTHER_JOB],
    ] as const) {
      const { jobIds, why } = await walk(artifacts);
      expect([jobIds, why]).toEqual([[own], expect.stringContaining('another fleet stores artifacts')]);
    }
    // Its own artifacts can still be removed.
    expect([await ours.removeAll(JOB), await theirs.removeAll(OTHER_JOB)]).toEqual([1, 1]);
  });

  it('finds its own stray bytes again when the marker of the other fleet is gone', async () => {
    await theirs.put({ jobId: OTHER_JOB, fence: '1' }, 'a', 'theirs');
    await ours.put({ jobId: JOB, fence: '1' }, 'a', 'ours');
    await theirs.removeAll(OTHER_JOB);
    await openBytes().remove('fleets', await sealOf(prefixes[1]!));
    const keys = await redis.keys(`${prefixes[0]}:{made*`);
    await redis.unlink(...keys);
    expect(await walk(ours)).toEqual({ jobIds: [JOB], why: undefined });
  });

  it('leaves one marker, however many of its processes start at once', async () => {
    const many = Array.from({ length: 8 }, () => new Artifacts(redis, prefixes[0]!, openBytes()));
    await Promise.all(many.map((each, i) => each.put({ jobId: JOB, fence: '1' }, `${i}`, 'x')));
    expect(await openBytes().files('fleets')).toEqual([await sealOf(prefixes[0]!)]);
    expect(await walk(ours)).toEqual({ jobIds: [JOB], why: undefined });
  });

  it('writes nothing when it cannot leave a marker, and tries again', async () => {
    const bytes = openBytes();
    let isShut = true;
    const shut = new Artifacts(redis, prefixes[0]!, {
      put: (...args) => (isShut ? Promise.reject(new Error('shut')) : bytes.put(...args)),
      open: (...args) => bytes.open(...args),
      remove: (...args) => bytes.remove(...args),
      files: (...args) => bytes.files(...args),
      folders: (...args) => bytes.folders(...args),
    });
    await expect(shut.put({ jobId: JOB, fence: '1' }, 'a', 'x')).rejects.toThrow('shut');
    isShut = false;
    await shut.put({ jobId: JOB, fence: '1' }, 'a', 'x');
    expect(await bytes.files('fleets')).toHaveLength(1);
  });

  it('refuses to remove and to write while its marker is missing', async () => {
    await ours.put({ jobId: JOB, fence: '1' }, 'a', 'ours');
    const [file] = await openBytes().files(`${shardOf(JOB)}/${JOB}`);
    const seal = await sealOf(prefixes[0]!);
    await openBytes().remove(`${shardOf(JOB)}/${JOB}`, file!);
    await openBytes().remove('fleets', seal);
    const again = new Artifacts(redis, prefixes[0]!, openBytes());
    const refused = { code: 'STORE_GONE', message: expect.stringContaining(`fleets/${seal}`) };
    for (let i = 0; i < 2; i += 1) {
      await expect(again.removeAll(JOB)).rejects.toMatchObject(refused);
      await expect(again.put({ jobId: JOB, fence: '1' }, 'b', 'x')).rejects.toMatchObject(refused);
    }
    expect((await walk(again)).jobIds).toEqual([JOB]);
    expect(await openBytes().files('fleets')).toEqual([]);

    await openBytes().put('fleets', seal, nothing(), 1);
    await again.put({ jobId: JOB, fence: '1' }, 'b', 'x');
    expect([await again.removeAll(JOB), (await walk(again)).jobIds]).toEqual([2, []]);
  });

  it('notices within seconds that the place is gone', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      await ours.put({ jobId: JOB, fence: '1' }, 'a', 'x');
      const seal = await sealOf(prefixes[0]!);
      await openBytes().remove('fleets', seal);
      vi.advanceTimersByTime(10_000);
      await expect(ours.put({ jobId: JOB, fence: '1' }, 'b', 'x')).rejects.toThrow(seal);
    } finally {
      vi.useRealTimers();
    }
  });

  async function sealOf(prefix: string): Promise<string> {
    return (await redis.get(fleetIn(prefix)))!.replace(' left', '');
  }

  async function walk(artifacts: Artifacts): Promise<{ jobIds: string[]; why: string | undefined }> {
    const jobIds: string[] = [];
    for (let position: string | undefined; ;) {
      const page = await artifacts.walk(position, 10);
      jobIds.push(...page.jobs.map(({ jobId }) => jobId));
      if (page.position === null) return { jobIds, why: page.why };
      ({ position } = page);
    }
  }
});

async function* nothing(): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(0);
}
