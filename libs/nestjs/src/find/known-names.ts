import { InvalidJobError } from '#core';
import { nearestName } from '#nearest-name';
import { Injectable } from '@nestjs/common';
import { KindRegistry } from '../kinds/kind-registry.js';
import { ApplicationQueues } from '../queues/application-queues.js';
import type { JobFilter } from './job-filter.js';

const MOST_LETTERS_WRONG = 3;

/** Refuses names in filters that are misspelt: nothing found would look like a proof that there is nothing. */
@Injectable()
export class KnownNames {
  constructor(
    private readonly queues: ApplicationQueues,
    private readonly kinds: KindRegistry,
  ) {}

  /** @throws InvalidJobError if there is no such queue */
  checkQueue({ queue }: Pick<JobFilter, 'queue'>): void {
    if (queue !== undefined && !this.queues.find(queue))
      throw new InvalidJobError(unknown('queue', queue, this.queueNames));
  }

  /**
   * What is wrong with a kind for which no job was found; nothing if it is right. Jobs of a kind that only another release knows are found.
   * A queue that has no kinds may have jobs of any name.
   */
  whyNoKind({ queue, kind }: Pick<JobFilter, 'queue' | 'kind'>): string | undefined {
    if (kind === undefined || this.kinds.find(kind)) return undefined;
    const known = this.kinds.all();
    const ofKinds = new Set(known.map((each) => each.queue));
    const searched = queue === undefined ? this.queueNames : [queue];
    if (!searched.every((name) => ofKinds.has(name))) return undefined;
    const names = known.map(({ name }) => name);
    return unknown('kind', kind, names);
  }

  private get queueNames(): string[] {
    return [...this.queues.all().keys()];
  }
}

function unknown(what: string, name: string, names: readonly string[]): string {
  const near = nearestName(name, names, MOST_LETTERS_WRONG);
  return `There is no ${what} named ${JSON.stringify(name.slice(0, 80))}.${near ? ` Did you mean ${near}?` : ''}`;
}
