import { OwnerResolver, ResolvesOwners, type OwnerLife } from '#nestjs';
import { Inject, Injectable, type Type } from '@nestjs/common';

/** A repository whose records are owners of jobs. */
export interface OwnerRecords {
  /** False for an id such as `site:42` that belongs to another service. */
  isOurs(id: string): boolean;
  /** One flag per id. Rejects while the store is away, which counts as unknown. */
  live(ids: readonly string[]): Promise<readonly boolean[]>;
}

/** The provider that answers which owners of a type are alive: those that the repository says are live. */
export function ownerResolver(type: string, repository: Type<OwnerRecords>): Type<OwnerResolver> {
  @Injectable()
  @ResolvesOwners(type)
  class RepositoryOwnerResolver extends OwnerResolver {
    constructor(@Inject(repository) private readonly records: OwnerRecords) {
      super();
    }

    async resolve(ids: string[]): Promise<ReadonlyMap<string, OwnerLife>> {
      const ours = ids.filter((id) => this.records.isOurs(id));
      const live = await this.records.live(ours);
      const lives = new Map(ours.map((id, i) => [id, live[i] ? 'alive' : 'gone'] as const));
      return new Map(ids.map((id) => [id, lives.get(id) ?? 'unknown']));
    }
  }
  return RepositoryOwnerResolver;
}
