import { Canceller, LifecycleError, LifecycleOptions, StoreUnavailableError } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { isUnderWay, type DiagramRecord } from './diagram.js';
import { DiagramAskers } from './diagram.askers.js';
import { DiagramJobs } from './diagram.jobs.js';
import { DiagramLooks } from './diagram.looks.js';
import { DiagramsRepository } from './diagrams.repository.js';

/**
 * What becomes of a diagram whose askers go. While one of them is there it is made: with the owner that its job had the job is
 * gone, and it gets another. With the last of them it is over, and nothing of it stays.
 */
@Injectable()
export class DiagramCare {
  constructor(
    private readonly options: LifecycleOptions,
    private readonly diagrams: DiagramsRepository,
    private readonly jobs: DiagramJobs,
    private readonly looks: DiagramLooks,
    private readonly askers: DiagramAskers,
    private readonly canceller: Canceller,
  ) {}

  /** Everything that the owner asked for before that epoch. */
  async ownerGone(owner: string, epoch: string): Promise<void> {
    for await (const asked of this.diagrams.askedBy(owner))
      if (await this.strike(asked.id, owner, epoch)) await this.diagrams.forgetAsked(owner, asked);
    await this.diagrams.forgetGone(owner, epoch);
  }

  /** Looks after a diagram that several ask for. Anybody may, at any time, and again. */
  async tend(id: string): Promise<void> {
    await this.strikeGone(id);
    const diagram = await this.diagrams.find(id);
    if (!diagram) return this.diagrams.settled(id, undefined);
    const { state, isLeft } = await this.looks.look(diagram);
    if (diagram.job === undefined || isLeft) return this.makeAgain(diagram);
    if (!isUnderWay({ state })) await this.diagrams.settled(id, diagram.job);
  }

  private async strike(id: string, owner: string, epoch: string): Promise<boolean> {
    const word = await this.diagrams.strike(id, owner, epoch);
    if (word === 'kept') return false;
    if (word === 'some') await this.tend(id);
    else if (word.job !== '') await this.end(id, word.job);
    return true;
  }

  /** Owners that were cancelled, in case nobody who heard of it lived to tell. */
  private async strikeGone(id: string): Promise<void> {
    for (const asker of await this.diagrams.askers(id)) {
      const epoch = await this.askers.epochGone(asker);
      if (epoch === undefined) continue;
      const word = await this.diagrams.strike(id, asker.owner, epoch);
      if (typeof word === 'object' && word.job !== '') await this.end(id, word.job);
    }
  }

  /** Should it be refused now, it is tended again. */
  private async makeAgain({ id, job, link, type, output }: DiagramRecord): Promise<void> {
    const [source, askers] = await Promise.all([this.diagrams.source(id), this.diagrams.askers(id)]);
    const [first] = askers.toSorted((a, b) => a.owner.length - b.owner.length);
    if (source === undefined || !first) return this.diagrams.settled(id, job);
    const turn = await this.diagrams.claim(id, job);
    if (turn === undefined) return;
    try {
      await this.jobs.enqueue(id, turn, { type, output, source }, first.owner);
    } catch (error) {
      if (!(error instanceof LifecycleError) || error instanceof StoreUnavailableError) throw error;
      await this.diagrams.refused(id, turn, link);
    }
  }

  /** The job alone: the diagram may be asked for anew already. */
  async end(shard: string, job: string): Promise<void> {
    const about = { reason: 'all who asked for it are gone', by: 'diagrams', cancelId: `diagram-${job}` };
    await this.canceller.cancelJob(job, about);
    await this.options.artifacts?.removeAll(job);
    await this.diagrams.ended(shard, job);
  }
}
