import { describe, expect, it } from 'vitest';
import { newSiteId } from './site-keys.js';
import { SiteOwnerResolver } from './site-owner.resolver.js';
import type { SiteRepository } from './site-repository.js';

describe('whether a site exists', () => {
  const [here, gone] = [newSiteId(), newSiteId()];
  const ownersOf = (live: SiteRepository['live']): SiteOwnerResolver =>
    new SiteOwnerResolver({ live } as unknown as SiteRepository);

  it('is read from its record', async () => {
    const owners = ownersOf((ids) => Promise.resolve(ids.map((id) => id === here)));
    expect(await owners.resolve([here, gone])).toEqual(
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
    expect(await owners.resolve([...foreign, gone])).toEqual(
      new Map([...foreign.map((id) => [id, 'unknown'] as const), [gone, 'gone']]),
    );
    expect(asked).toEqual([gone]);
  });

  it('is unknown while the store is away', async () => {
    const owners = ownersOf(() => Promise.reject(new Error('away')));
    await expect(owners.resolve([here])).rejects.toThrow('away');
  });
});
