import { Owners, parseOwner } from '#core';
import { Inject, Injectable } from '@nestjs/common';
import { JobHistory } from '../history/job-history.js';
import { KindRegistry } from '../kinds/kind-registry.js';
import { ApplicationQueues } from '../queues/application-queues.js';
import { MooringStore } from '../store/mooring-store.js';
import { REMEMBERED, type JobFilter } from './job-filter.js';
import type { JobSource } from './job-source.js';
import { OwnedSource } from './owned-source.js';
import { QueueSource, STRUCTURES_IN_ORDER, structuresOf, type Structure } from './queue-source.js';
import { HistorySource, RemovedSource } from './remembered-source.js';

/** More live jobs of an owner are found in the queues. */
export const MOST_OWNED = 1_000;

const ENDED: readonly Structure[] = ['completed', 'failed'];

/** Says which places have the jobs that a list asks for. */
@Injectable()
export class JobSources {
  constructor(
    private readonly queues: ApplicationQueues,
    private readonly kinds: KindRegistry,
    private readonly store: MooringStore,
    private readonly history: JobHistory,
    @Inject(Owners) private readonly owners: Owners,
  ) {}

  /** A completed job has no error. @param isOwned whether the owner's record stands for the queues, as far as its jobs have not ended */
  of(filter: JobFilter, isOwned: boolean): JobSource[] {
    const { state } = filter;
    if (state && REMEMBERED.includes(state)) return this.remembered(filter);
    const ofState = state ? structuresOf(state) : STRUCTURES_IN_ORDER;
    const structures = ofState.filter((each) => each !== 'completed' || filter.error === undefined);
    if (!isOwned) return this.inQueues(filter, structures);
    const ended = structures.filter((each) => ENDED.includes(each));
    const owned = this.owned(filter.owner!);
    const hasLive = ended.length < structures.length;
    return [...(hasLive ? [owned] : []), ...this.inQueues(filter, ended)];
  }

  /** Whether the live jobs of the owner are few enough to be read for each page. */
  async isOwned({ owner }: JobFilter): Promise<boolean> {
    return owner !== undefined && (await this.owned(owner).count()) <= MOST_OWNED;
  }

  owned(owner: string): OwnedSource {
    return new OwnedSource(this.store, parseOwner(owner));
  }

  /** These structures of all queues that may have such jobs, queue by queue. */
  inQueues(
    filter: Pick<JobFilter, 'queue' | 'kind' | 'within'>,
    structures: readonly Structure[],
  ): QueueSource[] {
    return this.namesOf(filter).flatMap((queue) =>
      structures.map((structure) => new QueueSource(this.store, queue, structure)),
    );
  }

  private remembered(filter: JobFilter): JobSource[] {
    const { owner } = filter;
    if (owner !== undefined) return [new HistorySource(this.owners, this.history, parseOwner(owner))];
    return this.namesOf(filter).map((queue) => new RemovedSource(this.store, this.history, queue));
  }

  /** The queues to look into. All jobs of a known kind are in its queue. */
  private namesOf({ queue, kind, within = {} }: Pick<JobFilter, 'queue' | 'kind' | 'within'>): string[] {
    const ofKind = kind === undefined ? undefined : this.kinds.find(kind)?.queue;
    const ofKinds = within.kinds?.map((each) => this.kinds.find(each)?.queue);
    return [...this.queues.all().keys()]
      .filter((name) => (queue === undefined || name === queue) && (ofKind === undefined || name === ofKind))
      .filter((name) => within.queues?.includes(name) ?? true)
      .filter((name) => ofKinds === undefined || ofKinds.includes(name) || ofKinds.includes(undefined))
      .toSorted();
  }
}
