import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { S3Server } from '../../../test/support/s3-server.js';
import { readArtifactsUrl } from './address.js';
import { Artifacts } from './artifacts.js';
import { fleetIn } from './keys.js';
import type { ByteStore } from './stores/byte.store.js';
import { FileStore } from './stores/file.store.js';
import type { S3Address } from './stores/s3.client.js';
import { S3Store } from './stores/s3.store.js';

const JOB = 'probe-00000000000000000001';
const OTHER_JOB = 'probe-00000000000000000002';

/** Two fleets with one place for their bytes, each with a Redis of its own: here, a prefix of its own there. */
describe.each(['files', 's3'])('a fleet beside another, in %s', (kind) => {
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

  it('takes none of its bytes for left behind, whichever was there first', async () => {
    await ours.put({ jobId: JOB, fence: '1' }, 'a', 'ours');
    await theirs.put({ jobId: OTHER_JOB, fence: '1' }, 'a', 'theirs');
    for (const [artifacts, own] of [
      [ours, JOB],
      [theirs, OTHER_JOB],
    ] as const) {
      const { jobIds, why } = await walk(artifacts);
      expect([jobIds, why]).toEqual([[own], expect.stringContaining('another fleet keeps its own')]);
    }
    // What is its own goes as ever.
    expect([await ours.removeAll(JOB), await theirs.removeAll(OTHER_JOB)]).toEqual([1, 1]);
  });

  it('finds its own stray bytes again once the other’s seal is gone', async () => {
    await theirs.put({ jobId: OTHER_JOB, fence: '1' }, 'a', 'theirs');
    await ours.put({ jobId: JOB, fence: '1' }, 'a', 'ours');
    await theirs.removeAll(OTHER_JOB);
    const seal = await redis.get(fleetIn(prefixes[1]!));
    await openBytes().remove('fleets', seal!);
    const keys = await redis.keys(`${prefixes[0]}:{made*`);
    await redis.unlink(...keys);
    expect(await walk(ours)).toEqual({ jobIds: [JOB], why: undefined });
  });

  it('leaves one seal, however many of its processes begin at once', async () => {
    const many = Array.from({ length: 8 }, () => new Artifacts(redis, prefixes[0]!, openBytes()));
    await Promise.all(many.map((each, i) => each.put({ jobId: JOB, fence: '1' }, `${i}`, 'x')));
    expect(await openBytes().files('fleets')).toEqual([await redis.get(fleetIn(prefixes[0]!))]);
    expect(await walk(ours)).toEqual({ jobIds: [JOB], why: undefined });
  });

  it('that cannot leave a seal writes nothing, and tries again', async () => {
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
