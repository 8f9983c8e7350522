import { openArtifacts, type Artifacts } from '#artifacts';
import { Redis } from 'ioredis';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { ArtifactStore } from '#nestjs';

/** The artifacts of one test, in a folder of its own. */
export class KeptArtifacts {
  private constructor(
    readonly folder: string,
    readonly store: Artifacts,
    private readonly redis: Redis,
  ) {}

  static async open(prefix: string): Promise<KeptArtifacts> {
    const folder = await mkdtemp(join(tmpdir(), 'mooring-artifacts-'));
    const redis = new Redis(inject('storeUrl'));
    return new KeptArtifacts(folder, openArtifacts(`file:${folder}`, redis, prefix), redis);
  }

  get url(): string {
    return `file:${this.folder}`;
  }

  /** The same store with some of its calls replaced. */
  with(some: Partial<ArtifactStore>): ArtifactStore {
    const { store } = this;
    return {
      put: (...args) => store.put(...args),
      list: (...args) => store.list(...args),
      open: (...args) => store.open(...args),
      writtenAt: (...args) => store.writtenAt(...args),
      removeAll: (...args) => store.removeAll(...args),
      removeRun: (...args) => store.removeRun(...args),
      walk: (...args) => store.walk(...args),
      ...some,
    };
  }

  /** The jobs that have files. */
  async jobs(): Promise<string[]> {
    const all = await readdir(this.folder, { recursive: true, withFileTypes: true });
    const folders = all.filter((each) => each.isFile()).map(({ parentPath }) => parentPath);
    const names = folders.map((path) => path.slice(path.lastIndexOf('/') + 1));
    return [...new Set(names.filter((name) => name !== 'fleets'))].toSorted();
  }

  /** Removes the artifacts and their keys; call it before the check for leftovers. */
  async clear(): Promise<void> {
    let position: string | undefined;
    do {
      const page = await this.store.walk(position, 100);
      for (const { jobId } of page.jobs) await this.store.removeAll(jobId);
      position = page.position ?? undefined;
    } while (position);
  }

  async close(): Promise<void> {
    await this.redis.quit();
    await rm(this.folder, { recursive: true });
  }
}
