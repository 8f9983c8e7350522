import { Journal, type Page, type Round } from '#nestjs';
import { Injectable } from '@nestjs/common';
import { ContainerEngine, type Container } from '../engines/container-engine.js';
import { ContainerRemover } from '../container-remover.js';
import { FleetSignature } from '../fleet-signature.js';
import { LeaseRepository } from '../lease-repository.js';
import { surveyPage, within, type Fate } from './survey-page.js';

/** Minimum age of a container that may be removed. Its lease existed before it. */
const GRACE_MS = 30_000;

/** Finds containers without a lease: those of this fleet are removed, others are never touched. */
@Injectable()
export class ContainerReconciler {
  constructor(
    private readonly leases: LeaseRepository,
    private readonly engine: ContainerEngine,
    private readonly signature: FleetSignature,
    private readonly removal: ContainerRemover,
    private readonly journal: Journal,
  ) {}

  async isAnyThere(signal: AbortSignal): Promise<boolean> {
    return (await this.engine.list(this.signature.label, within(signal))).length > 0;
  }

  /** The position is the last container checked. */
  async page(after: string | undefined, limit: number, round: Round): Promise<Page> {
    const listed = await this.engine.list(this.signature.label, within(round.signal));
    const rest = listed
      .filter(({ id }) => after === undefined || id > after)
      .toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const look = (container: Container): Promise<Fate> => this.look(container, round);
    const { page, last } = await surveyPage(rest.slice(0, limit), round, look, ({ name }) => name);
    const isLast = rest.length <= limit && !round.signal.aborted;
    return { ...page, position: isLast ? null : (last?.id ?? after ?? null) };
  }

  private async look(container: Container, round: Round): Promise<Fate> {
    const why = await this.isLeft(container, round);
    return { why, word: why === undefined ? 'kept' : await this.remove(container, why, round) };
  }

  /** The reason to remove it, if any. */
  private async isLeft(container: Container, { force }: Round): Promise<string | undefined> {
    const leaseId = await this.signature.leaseOf(container);
    if (leaseId === undefined) return undefined;
    const ageMs = (await this.leases.now()) - container.createdAt;
    if (ageMs < GRACE_MS && !force) return undefined;
    const lease = await this.leases.find(leaseId);
    if (!lease) return 'it has no lease';
    if (lease.state === 'ended' || lease.state === 'failed') return `its lease is ${lease.state}`;
    return lease.made && lease.made.id !== container.id ? 'its lease has another one' : undefined;
  }

  /** Reads the container again, because the list may be older than the container with that id. */
  private async remove(
    listed: Container,
    why: string,
    { dryRun, signal }: Round,
  ): Promise<'removed' | 'failed'> {
    if (dryRun) return 'removed';
    const limit = within(signal);
    try {
      const leaseId = (await this.signature.leaseOf(listed))!;
      const container = await this.engine.find(listed.id, limit);
      if (container && (await this.removal.isOf(leaseId, container)))
        await this.removal.remove(container, leaseId, 1, limit);
      return 'removed';
    } catch (error) {
      this.journal.trouble(`The sweep of container ${listed.name} (${why})`, error);
      return 'failed';
    }
  }
}
