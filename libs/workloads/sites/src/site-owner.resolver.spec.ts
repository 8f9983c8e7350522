import type { OwnerResolver } from '#nestjs';
import { ownerResolver } from '#workload-kit';
import { describe, expect, it } from 'vitest';
import { isSiteId, newSiteId } from './site-keys.js';
import { OWNER_TYPE } from './site-kinds.js';
import { SiteRepository } from './site-repository.js';

describe('whether a site exists', () => {
  const { signal } = new AbortController();
  const [here, gone] = [newSiteId(), newSiteId()];
  const SiteOwnerResolver = ownerResolver(OWNER_TYPE, SiteRepository);
  const ownersOf = (live: SiteRepository['live']): OwnerResolver =>
    new SiteOwnerResolver({ live, isOurs: isSiteId });

  it('is read from its record', async () => {
    const owners = ownersOf((ids) => Promise.resolve(ids.map((id) => id === here)));
    expect(await owners.resolve([here, gone], signal)).toEqual(
      new Map([
        [here, 'alive'],
        [gone, 'gone'],
      ]),
    );
  });

  it('is unknown for a foreign id, without a lookup', async () => {
    const asked: string[] = [];
    const owners = ownersOf((ids) => {
      asked.push(...ids);
      return Promise.resolve(ids.map(() => false));
    });
    const foreign = ['42', 'due', '*', `${here}:entities`, here.toUpperCase(), ''];
    expect(await owners.resolve([...foreign, gone], signal)).toEqual(
      new Map([...foreign.map((id) => [id, 'unknown'] as const), [gone, 'gone']]),
    );
    expect(asked).toEqual([gone]);
  });

  it('is unknown while the store is away', async () => {
    const owners = ownersOf(() => Promise.reject(new Error('away')));
    await expect(owners.resolve([here], signal)).rejects.toThrow('away');
  });
});
