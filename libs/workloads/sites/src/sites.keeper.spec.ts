import type { FinishedJob } from '#lifecycle';
import { expect, it } from 'vitest';
import { BuildKeeper } from './sites.keeper.js';
import { newSiteId } from './sites.keys.js';
import { siteOwner } from './sites.kinds.js';
import type { SitesRepository } from './sites.repository.js';

it('of each site the builds that it wants are kept; nobody looks for what is no site', async () => {
  const [here, there] = [newSiteId(), newSiteId()];
  const asked: string[] = [];
  const wantedBuilds = async (siteId: string): Promise<string[]> => {
    asked.push(siteId);
    return [`${siteId}-shown`];
  };
  const keeper = new BuildKeeper({ wantedBuilds } as unknown as SitesRepository);
  const jobs = [here, 'due', there, here, '42'].map(
    (id) => ({ owners: [siteOwner(id)] }) as unknown as FinishedJob,
  );
  expect(await keeper.wanted(jobs)).toEqual(new Set([`${here}-shown`, `${there}-shown`]));
  expect(asked).toEqual([here, there]);
});
