import { formatOwner, Owners, type Owner, type OwnerJob } from '#core';
import { Inject, Injectable } from '@nestjs/common';

const FIRST_PAGE = '0';

/** An owner, and a page of its jobs that have not ended. */
export interface OwnerView {
  readonly owner: string;
  readonly state: 'open' | 'closed';
  /** Its generation; null for an owner that has no jobs and is not closed. */
  readonly epoch: string | null;
  /** Of all its jobs, whichever page is read. `running`: also cancelled ones, until they have stopped. `ending`: cancelled jobs that are still there. */
  readonly counts: { readonly jobs: number; readonly running: number; readonly ending: number };
  readonly jobs: readonly OwnedJob[];
  /** Where the next page begins; null on the last one. */
  readonly cursor: string | null;
}

export interface OwnedJob {
  readonly id: string;
  readonly queue: string;
  readonly kind: string;
  readonly state: string;
  readonly acceptedAt: string;
  readonly hasBegun: boolean;
}

/** Reads what an owner has. The cost follows its own jobs. */
@Injectable()
export class OwnerReader {
  constructor(@Inject(Owners) private readonly owners: Owners) {}

  async read(owner: Owner, cursor = FIRST_PAGE): Promise<OwnerView> {
    const [view, { running, ending }] = await Promise.all([
      this.owners.get(owner, { cursor }),
      this.owners.underWay(owner),
    ]);
    const { state = 'open', epoch = null, count = 0, cursor: next = null } = view ?? {};
    const jobs = view?.jobs.map(viewOf) ?? [];
    const counts = { jobs: Math.max(0, count - ending), running, ending };
    return { owner: formatOwner(owner), state, epoch, counts, jobs, cursor: next };
  }

  async closedAmong(owners: readonly Owner[]): Promise<Owner[]> {
    const views = await Promise.all(owners.map((owner) => this.owners.get(owner, { limit: 0 })));
    return owners.filter((_, i) => views[i]?.state === 'closed');
  }
}

function viewOf({ id, queue, name, state, added, hasBegun }: OwnerJob): OwnedJob {
  return { id, queue, kind: name, state, acceptedAt: new Date(added).toISOString(), hasBegun };
}
