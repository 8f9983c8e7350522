import { OwnerResolver, ResolvesOwners, type OwnerLife } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { isDiagramId } from './diagram-keys.js';
import { OWNER_TYPE } from './diagram-kinds.js';
import { DiagramRepository } from './diagram-repository.js';

/**
 * A diagram exists while a request for it is remembered. An id such as `diagram:42` belongs to another
 * service and is unknown here.
 */
@Injectable()
@ResolvesOwners(OWNER_TYPE)
export class DiagramOwnerResolver extends OwnerResolver {
  constructor(private readonly diagrams: DiagramRepository) {
    super();
  }

  async resolve(ids: string[]): Promise<ReadonlyMap<string, OwnerLife>> {
    const ours = ids.filter(isDiagramId);
    const live = await this.diagrams.live(ours);
    const lives = new Map(ours.map((id, i) => [id, live[i] ? 'alive' : 'gone'] as const));
    return new Map(ids.map((id) => [id, lives.get(id) ?? 'unknown']));
  }
}
