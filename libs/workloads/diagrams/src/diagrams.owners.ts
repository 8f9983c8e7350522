import { OwnerResolver, ResolvesOwners, type OwnerLife } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { isDiagramId } from './diagrams.keys.js';
import { OWNER_TYPE } from './diagrams.kinds.js';
import { DiagramsRepository } from './diagrams.repository.js';

/** A diagram lives while it is remembered that somebody asked for it. `diagram:42` is somebody else's, of which nothing is known. */
@Injectable()
@ResolvesOwners(OWNER_TYPE)
export class DiagramOwners extends OwnerResolver {
  constructor(private readonly diagrams: DiagramsRepository) {
    super();
  }

  async resolve(ids: string[]): Promise<ReadonlyMap<string, OwnerLife>> {
    const ours = ids.filter(isDiagramId);
    const live = await this.diagrams.live(ours);
    const lives = new Map(ours.map((id, i) => [id, live[i] ? 'alive' : 'gone'] as const));
    return new Map(ids.map((id) => [id, lives.get(id) ?? 'unknown']));
  }
}
