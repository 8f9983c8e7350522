import { Journal, type Page, type Round, type SweepLine } from '#nestjs';
import { Injectable } from '@nestjs/common';
import { ContainerEngine, type Container } from '../engines/container-engine.js';
import { ContainerRemover } from '../container-remover.js';
import { FleetSignature } from '../fleet-signature.js';
import { LeaseRepository } from '../lease-repository.js';
import { AT_ONCE, within } from './lease-survey.js';

/** Minimum age of a container that may be removed. Its lease existed before it. */
const GRACE_MS = 30_000;

interface Look {
  readonly fate: 'kept' | 'removed' | 'failed';
  readonly why: string | undefined;
}

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
    const page = rest.slice(0, limit);
    const counts = { seen: 0, kept: 0, removed: 0, failed: 0 };
    const lines: SweepLine[] = [];
    let last = after;
    for (let i = 0; i < page.length && !round.signal.aborted; i += AT_ONCE) {
      const some = page.slice(i, i + AT_ONCE);
      const looks = await Promise.all(some.map((container) => this.look(container, round)));
      last = some.at(-1)!.id;
      for (const [j, { fate, why }] of looks.entries()) {
        counts.seen += 1;
        counts[fate] += 1;
        if (why !== undefined) lines.push({ what: some[j]!.name, why });
      }
    }
    const isLast = page.length === rest.length && !round.signal.aborted;
    return { ...counts, lines, position: isLast ? null : (last ?? null) };
  }

  private async look(container: Container, round: Round): Promise<Look> {
    const why = await this.isLeft(container, round);
    return { why, fate: why === undefined ? 'kept' : await this.remove(container, why, round) };
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
