import { OwnerReader, parseOwner } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import type { DiagramRecord } from './diagram.js';
import { DiagramRepository, type Asker } from './diagram-repository.js';

/** The owners that requested a diagram, and whether they still exist. */
@Injectable()
export class DiagramRequesters {
  constructor(
    private readonly diagrams: DiagramRepository,
    private readonly owners: OwnerReader,
  ) {}

  /**
   * The current epoch of an owner that was cancelled after its request; undefined if the owner still exists.
   */
  async epochGone({ owner, epoch: before }: Asker): Promise<string | undefined> {
    if (owner === '') return undefined;
    const { epoch, state } = await this.owners.read(parseOwner(owner));
    if (state !== 'closed' && !hasMoved(before, epoch)) return undefined;
    return epoch ?? String(Number.MAX_SAFE_INTEGER);
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

/** An owner without a record was never cancelled, and one whose record is new need not have been. */
function hasMoved(before: string, epoch: string | null): boolean {
  return before !== '' && epoch !== null && Number(epoch) > Number(before);
}
