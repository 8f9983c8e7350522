import type { Redis } from 'ioredis';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JobArtifacts } from '../artifacts/job.artifacts.js';
import { Journal, type Fact } from '../journal.js';
import { Store } from '../store.js';
import { ArtifactReader } from './artifact.reader.js';

type Opened = Awaited<ReturnType<JobArtifacts['open']>>;

/** More than there may be calls of the store under way. */
const MANY = 3_000;
const LONG_MS = 60_000;

describe('the bytes of artifacts', () => {
  let open: () => Promise<Opened>;
  let listed: object[];
  let facts: Fact[];
  let store: Store;
  let reader: ArtifactReader;

  beforeEach(() => {
    vi.useFakeTimers();
    const redis = { status: 'ready' } as Redis;
    listed = [];
    facts = [];
    const artifacts = { open: () => open(), list: () => Promise.resolve(listed) } as unknown as JobArtifacts;
    const journal = new Journal({ redis, listeners: [(fact: Fact) => facts.push(fact)] });
    store = new Store({ redis });
    reader = new ArtifactReader({ redis, artifacts }, store, journal);
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('that do not come keep nobody from the store, and are unavailable in the end', async () => {
    open = () => new Promise(() => undefined);
    const all = Array.from({ length: MANY }, () =>
      reader.open('probe-1', 'a').catch((error: Error) => error),
    );
    expect(await store.call(() => Promise.resolve('there'))).toBe('there');
    await vi.advanceTimersByTimeAsync(LONG_MS);
    for (const error of await Promise.all(all)) expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that come when nobody waits any more are closed', async () => {
    let come: ((opened: Opened) => void) | undefined;
    open = () => new Promise((resolve) => (come = resolve));
    const asked = reader.open('probe-1', 'a').catch((error: Error) => error);
    await vi.advanceTimersByTimeAsync(LONG_MS);
    await asked;
    const bytes = Readable.from(['x']);
    come!({ artifact: { name: 'a', size: 1, contentType: 'text/plain', sha256: '' }, bytes });
    await vi.advanceTimersByTimeAsync(0);
    expect(bytes.destroyed).toBe(true);
  });

  it('that are gone while their entry is there are missed, and that is said once', async () => {
    open = () => Promise.resolve(undefined);
    listed = [{ name: 'a' }];
    for (let i = 0; i < 2; i += 1)
      await expect(reader.open('probe-1', 'a')).rejects.toMatchObject({ code: 'ARTIFACT_UNAVAILABLE' });
    expect(facts).toEqual([{ event: 'artifact.missing', jobId: 'probe-1', artifact: 'a' }]);
    listed = [];
    expect(await reader.open('probe-1', 'a')).toBeUndefined();
  });

  it('are had, and nothing ticks on', async () => {
    const bytes = Readable.from(['x']);
    open = () =>
      Promise.resolve({ artifact: { name: 'a', size: 1, contentType: 'text/plain', sha256: '' }, bytes });
    expect(await reader.open('probe-1', 'a')).toBe(bytes);
    expect(vi.getTimerCount()).toBe(0);
  });
});
