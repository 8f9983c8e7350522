import { ArtifactReader, JobReader, type Artifact } from '#nestjs';
import { Injectable } from '@nestjs/common';
import {
  pictureName,
  type DiagramRecord,
  type DiagramState,
  type DiagramView,
  type Flaw,
} from './diagram.js';
import { DiagramRequesters } from './diagram-requesters.js';
import { DiagramRepository } from './diagram-repository.js';

export interface Look {
  readonly state: DiagramState;
  readonly picture?: Artifact;
  readonly flaw?: Flaw;
  /** The job was removed with its owner and will be replaced for the other requesters. */
  readonly isLeft?: true;
}

/** The status of a diagram, from its job and its picture. */
@Injectable()
export class DiagramStatus {
  constructor(
    private readonly diagrams: DiagramRepository,
    private readonly askers: DiagramRequesters,
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
        return { state: 'failed', flaw: diagram.flaw ?? { message: view.error ?? 'The render failed.' } };
      case 'cancelled':
        return this.gone(diagram, 'cancelled');
      case 'completed':
        return this.lookAgain(diagram);
      case 'expired':
      case 'skipped':
      case 'removed':
      case undefined:
        return this.gone(diagram, wasCancelled(view?.error) ? 'cancelled' : 'removed');
    }
  }

  /** A cancel by one requester must not be reported to another. */
  private async gone(diagram: DiagramRecord, state: 'cancelled' | 'removed'): Promise<Look> {
    return (await this.askers.haveLost(diagram)) ? { state: 'pending', isLeft: true } : { state };
  }

  /** The picture may have been counted between the two reads. */
  private async lookAgain(diagram: DiagramRecord): Promise<Look> {
    const picture = await this.picture(diagram);
    return picture ? { state: 'completed', picture } : { state: 'removed' };
  }

  private async picture({ job, output }: DiagramRecord): Promise<Artifact | undefined> {
    const name = pictureName(output);
    return (await this.artifacts.list(job!)).find((each) => each.name === name);
  }
}

/** The reason kept for a removed job begins with this. */
function wasCancelled(why: string | null | undefined): boolean {
  return why !== null && why !== undefined && /^(cancelled|orphan)/.test(why);
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
