import { Owners, parseOwner } from '#core';
import { Injectable } from '@nestjs/common';
import type { DiagramRecord } from './diagram.js';
import { DiagramRepository, type Asker } from './diagram-repository.js';

/** The owners that requested a diagram, and whether they still exist. */
@Injectable()
export class DiagramRequesters {
  constructor(
    private readonly diagrams: DiagramRepository,
    private readonly owners: Owners,
  ) {}

  /**
   * The current epoch of an owner that was cancelled after its request; undefined if the owner still exists.
   */
  async epochGone({ owner, epoch: before }: Asker): Promise<string | undefined> {
    if (owner === '') return undefined;
    const { state, epoch = '' } = (await this.owners.get(parseOwner(owner), { limit: 0 })) ?? {};
    return state === 'closed' || wasCancelled(epoch, before) ? epoch : undefined;
  }

  /**
   * For a diagram whose job was cancelled: true if the job was removed with its owner and other requesters
   * remain. Cancelling the job itself ends the diagram for all.
   */
  async haveLost({ id, by }: DiagramRecord): Promise<boolean> {
    if (by === '' || (await this.diagrams.source(id)) === undefined) return false;
    const asker = (await this.diagrams.askers(id)).find(({ owner }) => owner === by);
    return asker === undefined || (await this.epochGone(asker)) !== undefined;
  }
}

/** An epoch is a time, and that of a cancel begins with 0. Without a record there is none, and no cancel is known. */
function wasCancelled(epoch: string, before: string): boolean {
  return epoch.startsWith('0') && Number(epoch) > Number(before);
}
