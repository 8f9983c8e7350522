import { Owners, parseOwner } from '#core';
import { Inject, Injectable } from '@nestjs/common';
import { JobHistory } from '../history/job-history.js';
import { KindRegistry } from '../kinds/kind-registry.js';
import { ApplicationQueues } from '../queues/application-queues.js';
import type { JobViewState } from '../read/job-view.js';
import { MooringStore } from '../store/mooring-store.js';
import { REMEMBERED, type JobFilter } from './job-filter.js';
import type { JobSource } from './job-source.js';
import { OwnedSource } from './owned-source.js';
import { ALL_STRUCTURES, QueueSource, type Structure } from './queue-source.js';
import { HistorySource, RemovedSource } from './remembered-source.js';

/** More live jobs of an owner are found in the queues. */
export const MOST_OWNED = 1_000;

const WAITING: readonly Structure[] = ['wait', 'paused', 'prioritized', 'waiting-children'];
const ENDED: readonly Structure[] = ['completed', 'failed'];

/** Where BullMQ has the jobs of a state. */
const STRUCTURES_OF: Readonly<Partial<Record<JobViewState, readonly Structure[]>>> = {
  waiting: WAITING,
  delayed: ['delayed'],
  retrying: ['delayed'],
  running: ['active'],
  completed: ['completed'],
  failed: ['failed'],
};

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

  /** @param isOwned whether the owner's record stands for the queues, as far as its jobs have not ended */
  of(filter: JobFilter, isOwned: boolean): JobSource[] {
    const { state } = filter;
    if (state && REMEMBERED.includes(state)) return this.remembered(filter);
    const structures = state ? (STRUCTURES_OF[state] ?? []) : ALL_STRUCTURES;
    if (!isOwned) return this.inQueues(filter, structures);
    const ended = structures.filter((each) => ENDED.includes(each));
    const owned = new OwnedSource(this.store, parseOwner(filter.owner!));
    const hasLive = ended.length < structures.length;
    return [...(hasLive ? [owned] : []), ...this.inQueues(filter, ended)];
  }

  /** Whether the live jobs of the owner are few enough to be read for each page. */
  async isOwned({ owner }: JobFilter): Promise<boolean> {
    return (
      owner !== undefined && (await new OwnedSource(this.store, parseOwner(owner)).count()) <= MOST_OWNED
    );
  }

  private inQueues(filter: JobFilter, structures: readonly Structure[]): JobSource[] {
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
  private namesOf({ queue, kind }: JobFilter): string[] {
    const ofKind = kind === undefined ? undefined : this.kinds.find(kind)?.queue;
    return [...this.queues.all().keys()]
      .filter((name) => (queue === undefined || name === queue) && (ofKind === undefined || name === ofKind))
      .toSorted();
  }
}
