import { describe, expect, it } from 'vitest';
import { SiteOwners } from './sites.owners.js';
import type { SitesRepository } from './sites.repository.js';

describe('whether a site lives', () => {
  const ownersOf = (live: SitesRepository['live']): SiteOwners =>
    new SiteOwners({ live } as unknown as SitesRepository);

  it('is what is written of it', async () => {
    const owners = ownersOf((ids) => Promise.resolve(ids.map((id) => id === 'a')));
    expect(await owners.resolve(['a', 'b'])).toEqual(
      new Map([
        ['a', 'alive'],
        ['b', 'gone'],
      ]),
    );
  });

  it('is not known while the store cannot say', async () => {
    const owners = ownersOf(() => Promise.reject(new Error('away')));
    await expect(owners.resolve(['a'])).rejects.toThrow('away');
  });
});
