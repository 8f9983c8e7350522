import { describe, expect, it } from 'vitest';
import { newSiteId } from './sites.keys.js';
import { SiteOwners } from './sites.owners.js';
import type { SitesRepository } from './sites.repository.js';

describe('whether a site lives', () => {
  const [here, gone] = [newSiteId(), newSiteId()];
  const ownersOf = (live: SitesRepository['live']): SiteOwners =>
    new SiteOwners({ live } as unknown as SitesRepository);

  it('is what is written of it', async () => {
    const owners = ownersOf((ids) => Promise.resolve(ids.map((id) => id === here)));
    expect(await owners.resolve([here, gone])).toEqual(
      new Map([
        [here, 'alive'],
        [gone, 'gone'],
      ]),
    );
  });

  it('is not known of an id that is none of ours, and nobody looks for it', async () => {
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

  it('is not known while the store cannot say', async () => {
    const owners = ownersOf(() => Promise.reject(new Error('away')));
    await expect(owners.resolve([here])).rejects.toThrow('away');
  });
});
