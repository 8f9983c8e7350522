import type { FinishedJob } from '#nestjs';
import { expect, it } from 'vitest';
import { BuildKeeper } from './build-keeper.js';
import { newSiteId } from './site-keys.js';
import { siteOwner } from './site-kinds.js';
import type { SiteRepository } from './site-repository.js';

it('keeps the builds that each site needs, without lookups for ids that are no sites', async () => {
  const [here, there] = [newSiteId(), newSiteId()];
  const asked: string[] = [];
  const wantedBuilds = async (siteId: string): Promise<string[]> => {
    asked.push(siteId);
    return [`${siteId}-shown`];
  };
  const keeper = new BuildKeeper({ wantedBuilds } as unknown as SiteRepository);
  const jobs = [here, 'due', there, here, '42'].map(
    (id) => ({ owners: [siteOwner(id)] }) as unknown as FinishedJob,
  );
  expect(await keeper.wanted(jobs)).toEqual(new Set([`${here}-shown`, `${there}-shown`]));
  expect(asked).toEqual([here, there]);
});
