import { Owners, parseOwner } from '#core';
import { ArtifactReader, JobReader, type Artifact } from '#nestjs';
import { Injectable } from '@nestjs/common';
import {
  pictureName,
  type DiagramRecord,
  type DiagramState,
  type DiagramView,
  type Flaw,
} from './diagram.js';
import { DiagramRepository, type Asker } from './diagram-repository.js';

interface Look {
  readonly state: DiagramState;
  readonly picture?: Artifact;
  readonly flaw?: Flaw;
  /** The job was removed with its owner and will be replaced for the other requesters. */
  readonly isLeft?: true;
}

/** The status of a diagram, from its job, its picture and its requesters. */
@Injectable()
export class DiagramStatus {
  constructor(
    private readonly diagrams: DiagramRepository,
    private readonly owners: Owners,
    private readonly artifacts: ArtifactReader,
    private readonly jobs: JobReader,
  ) {}

  async look(diagram: DiagramRecord): Promise<Look> {
    const { id, job, isOver } = diagram;
    if (isOver) return { state: 'cancelled' };
    if (job === undefined) return { state: (await this.diagrams.mustBeMade(id)) ? 'pending' : 'removed' };
    const picture = await this.picture(diagram);
    if (picture) return { state: 'completed', picture };

    const view = await this.jobs.read(job);
    switch (view?.state) {
      case 'waiting':
      case 'delayed':
      case 'retrying':
        return { state: 'pending' };
      case 'running':
        return { state: 'rendering' };
      case 'failed':
        return { state: 'failed', flaw: await this.flawOf(diagram, view.error) };
      case 'cancelled':
        return this.gone(diagram, 'cancelled');
      case 'completed':
        return this.lookAgain(diagram);
      case 'expired':
      case 'skipped':
      case 'removed':
      case undefined:
        // The reason kept for a removed job begins with it.
        return this.gone(diagram, /^(cancelled|orphan)/.test(view?.error ?? '') ? 'cancelled' : 'removed');
    }
  }

  /**
   * The current epoch of an owner that was cancelled after its request; undefined if the owner still exists.
   */
  async epochGone({ owner, epoch: before }: Asker): Promise<string | undefined> {
    if (owner === '') return undefined;
    const { state, epoch = '' } = (await this.owners.get(parseOwner(owner), { limit: 0 })) ?? {};
    return state === 'closed' || isCancelSince(before, epoch) ? epoch : undefined;
  }

  /** A cancel by one requester must not be reported to another. */
  private async gone(diagram: DiagramRecord, state: 'cancelled' | 'removed'): Promise<Look> {
    return (await this.isLeft(diagram)) ? { state: 'pending', isLeft: true } : { state };
  }

  /** Cancelling the job itself ends the diagram for all, also for the requesters that remain. */
  private async isLeft({ id, by }: DiagramRecord): Promise<boolean> {
    if (by === '' || (await this.diagrams.source(id)) === undefined) return false;
    const asker = (await this.diagrams.askers(id)).find(({ owner }) => owner === by);
    return asker === undefined || (await this.epochGone(asker)) !== undefined;
  }

  /** The picture may have been counted between the two reads. */
  private async lookAgain(diagram: DiagramRecord): Promise<Look> {
    const picture = await this.picture(diagram);
    return picture ? { state: 'completed', picture } : { state: 'removed' };
  }

  /** Without a record of the repository, what the job says: that has no line and no column. */
  private async flawOf({ id, flaw }: DiagramRecord, error: string | null): Promise<Flaw> {
    // It may have been recorded between the two reads.
    const recorded = flaw ?? (await this.diagrams.find(id))?.flaw;
    return recorded ?? { message: error ?? 'The render failed.' };
  }

  private async picture({ job, output }: DiagramRecord): Promise<Artifact | undefined> {
    const name = pictureName(output);
    return (await this.artifacts.list(job!)).find((each) => each.name === name);
  }
}

/** An epoch is a time, and that of a cancel begins with 0. Without a record there is none, and no cancel is known. */
function isCancelSince(before: string, epoch: string): boolean {
  return epoch.startsWith('0') && Number(epoch) > Number(before);
}

export function viewOf(diagram: DiagramRecord, { state, picture, flaw }: Look): DiagramView {
  const { id, link, type, output, job, renderer, warnings, createdAtMs } = diagram;
  return {
    id,
    shortlink: link,
    url: `/d/${link}`,
    state,
    type,
    output,
    job: job ?? null,
    renderer: renderer ?? null,
    contentType: picture?.contentType ?? null,
    bytes: picture?.size ?? null,
    sha256: picture?.sha256 ?? null,
    error: flaw ?? null,
    warnings: picture ? warnings : [],
    createdAt: new Date(createdAtMs).toISOString(),
  };
}
