import { CommittedArtifacts, JobCanceller, receiptOf } from '#nestjs';
import { Reconciler } from '#workload-kit';
import { Injectable } from '@nestjs/common';
import { isUnderWay, type DiagramRecord } from './diagram.js';
import { DiagramJobs, isRefusal } from './diagram-jobs.js';
import { DiagramStatus } from './diagram-status.js';
import { isDiagramId } from './diagram-keys.js';
import { DiagramRepository } from './diagram-repository.js';

const AT_ONCE = 20;

/**
 * Handles diagrams whose requesters are cancelled. While one requester remains, the diagram is drawn: a job
 * that was removed with its owner is replaced. When the last one is gone, the diagram ends and its data is
 * removed.
 */
@Injectable()
export class DiagramReconciler extends Reconciler {
  constructor(
    private readonly artifacts: CommittedArtifacts,
    private readonly diagrams: DiagramRepository,
    private readonly jobs: DiagramJobs,
    private readonly looks: DiagramStatus,
    private readonly canceller: JobCanceller,
  ) {
    super('diagrams');
  }

  async reconcileOnce(): Promise<void> {
    const gone = await this.diagrams.takeGone(AT_ONCE);
    await this.inTurn(gone, ({ owner, epoch }) => this.ownerGone(owner, epoch));
    await this.perShard(
      (shard) => this.diagrams.take(shard, AT_ONCE),
      (id, shard) => (isDiagramId(id) ? this.reconcile(id) : this.end(shard, id)),
    );
  }

  /** Ends everything the owner requested before that epoch. */
  async ownerGone(owner: string, epoch: string): Promise<void> {
    for await (const asked of this.diagrams.askedBy(owner))
      if (await this.strike(asked.id, owner, epoch)) await this.diagrams.forgetAsked(owner, asked);
    await this.diagrams.forgetGone(owner, epoch);
  }

  /** Checks a diagram with several requesters. Idempotent; any process may call it at any time. */
  async reconcile(id: string): Promise<void> {
    await this.removeCancelledRequesters(id);
    const diagram = await this.diagrams.find(id);
    if (!diagram) return this.diagrams.settled(id, undefined);
    const { state, isLeft } = await this.looks.look(diagram);
    if (diagram.job === undefined || isLeft) return this.makeAgain(diagram);
    if (!isUnderWay({ state })) await this.diagrams.settled(id, diagram.job);
  }

  private async strike(id: string, owner: string, epoch: string): Promise<boolean> {
    const word = await this.diagrams.strike(id, owner, epoch);
    if (word === 'kept') return false;
    if (word === 'some') await this.reconcile(id);
    else if (word.job !== '') await this.end(id, word.job);
    return true;
  }

  /** Finds requesters that were cancelled by a process that died before it reported them. */
  private async removeCancelledRequesters(id: string): Promise<void> {
    for (const asker of await this.diagrams.askers(id)) {
      const epoch = await this.looks.epochGone(asker);
      if (epoch === undefined) continue;
      const word = await this.diagrams.strike(id, asker.owner, epoch);
      if (typeof word === 'object' && word.job !== '') await this.end(id, word.job);
    }
  }

  /** If the queue refuses the job now, the diagram stays due. */
  private async makeAgain({ id, job, link, type, output }: DiagramRecord): Promise<void> {
    const [source, askers] = await Promise.all([this.diagrams.source(id), this.diagrams.askers(id)]);
    const [first] = askers.toSorted((a, b) => a.owner.length - b.owner.length);
    if (source === undefined || !first) return this.diagrams.settled(id, job);
    const turn = await this.diagrams.claim(id, job);
    if (turn === undefined) return;
    await this.jobs
      .enqueue({ id, turn, link }, { type, output, source }, first.owner)
      .catch((error: unknown) => {
        if (!isRefusal(error)) throw error;
      });
  }

  /** Ends the job only, because the diagram may have been requested again. */
  async end(shard: string, job: string): Promise<void> {
    const about = { reason: 'all who asked for it are gone', by: 'diagrams', cancelId: `diagram-${job}` };
    await receiptOf(this.canceller.cancel(job, about));
    await this.artifacts.removeAll(job);
    await this.diagrams.ended(shard, job);
  }
}
