import { OwnerReader, parseOwner } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import type { DiagramRecord } from './diagram.js';
import { DiagramsRepository, type Asker } from './diagrams.repository.js';

/** Who asks for a diagram, and whether they are there still. */
@Injectable()
export class DiagramAskers {
  constructor(
    private readonly diagrams: DiagramsRepository,
    private readonly owners: OwnerReader,
  ) {}

  /** The epoch of an owner that was cancelled since it asked; undefined of one that is there. */
  async epochGone({ owner, epoch: before }: Asker): Promise<string | undefined> {
    if (owner === '') return undefined;
    const { epoch, state } = await this.owners.read(parseOwner(owner));
    if (state !== 'closed' && !hasMoved(before, epoch)) return undefined;
    return epoch ?? String(Number.MAX_SAFE_INTEGER);
  }

  /**
   * Of a diagram whose job was cancelled: whether it went with the owner it had, and is to be made for others. One whose job
   * was cancelled itself is over for all.
   */
  async haveLost({ id, by }: DiagramRecord): Promise<boolean> {
    if (by === '' || (await this.diagrams.source(id)) === undefined) return false;
    const asker = (await this.diagrams.askers(id)).find(({ owner }) => owner === by);
    return asker === undefined || (await this.epochGone(asker)) !== undefined;
  }
}

/** An owner without a record had none cancelled; one that has got a record since need not have been cancelled. */
function hasMoved(before: string, epoch: string | null): boolean {
  return before !== '' && epoch !== null && Number(epoch) > Number(before);
}
