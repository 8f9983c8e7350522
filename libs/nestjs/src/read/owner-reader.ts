import { formatOwner, Owners, type Owner, type OwnerJob } from '#core';
import { Inject, Injectable } from '@nestjs/common';

const FIRST_PAGE = '0';

/** An owner, and a page of its jobs that have not ended. */
export interface OwnerView {
  readonly owner: string;
  readonly state: 'open' | 'closed';
  /** Its generation; null for an owner that has no jobs and is not closed. */
  readonly epoch: string | null;
  /** `running`: of this page. `ending`: cancelled jobs still in their queues; with more pages they count among `jobs`. */
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

/** Reads what an owner has, a page at a time. The cost follows its own jobs. */
@Injectable()
export class OwnerReader {
  constructor(@Inject(Owners) private readonly owners: Owners) {}

  async read(owner: Owner, cursor = FIRST_PAGE): Promise<OwnerView> {
    const view = await this.owners.get(owner, { cursor });
    const { state = 'open', epoch = null, count = 0, cursor: next = null } = view ?? {};
    const jobs = view?.jobs.map(viewOf) ?? [];
    const running = jobs.filter((job) => job.state === 'running').length;
    const ending = cursor === FIRST_PAGE && next === null ? Math.max(0, count - jobs.length) : 0;
    const counts = { jobs: count - ending, running, ending };
    return { owner: formatOwner(owner), state, epoch, counts, jobs, cursor: next };
  }

  async closedAmong(owners: readonly Owner[]): Promise<Owner[]> {
    const views = await Promise.all(owners.map((owner) => this.owners.get(owner, { limit: 0 })));
    return owners.filter((_, i) => views[i]?.state === 'closed');
  }
}

function viewOf({ id, queue, name, state, added }: OwnerJob): OwnedJob {
  const hasBegun = state === 'running' || state === 'retrying';
  return { id, queue, kind: name, state, acceptedAt: new Date(added).toISOString(), hasBegun };
}
