import { Journal, type Page, type Round } from '#nestjs';
import { Injectable } from '@nestjs/common';
import { ContainerEngine } from '../engines/container-engine.js';
import { ContainerRemover } from '../container-remover.js';
import { FleetSignature } from '../fleet-signature.js';
import { LeaseTerminator } from '../lease-terminator.js';
import type { LeaseRecord, LeaseState } from '../lease.js';
import { LeaseRepository } from '../lease-repository.js';
import { LeaseJobs } from '../lease-jobs.js';
import { LeaseReaper } from './lease-reaper.js';
import { surveyPage, within, type Fate } from './survey-page.js';

/** Checks each lease: its jobs are in place and its container exists. */
@Injectable()
export class LeaseSurvey {
  constructor(
    private readonly leases: LeaseRepository,
    private readonly engine: ContainerEngine,
    private readonly signature: FleetSignature,
    private readonly removal: ContainerRemover,
    private readonly jobs: LeaseJobs,
    private readonly terminator: LeaseTerminator,
    private readonly reaper: LeaseReaper,
    private readonly journal: Journal,
  ) {}

  /** A page of leases in one state; the position is the start of the next page. */
  async page(state: LeaseState, cursor: string | undefined, limit: number, round: Round): Promise<Page> {
    const { leases, cursor: next } = await this.leases.walk(state, cursor, limit);
    const running =
      state === 'running' && leases.length > 0 ? await this.listRunning(round.signal) : undefined;
    const look = (lease: LeaseRecord): Promise<Fate> => this.look(lease, running, round);
    const { page } = await surveyPage(leases, round, look, ({ id }) => `lease:${id}`);
    return { ...page, position: round.signal.aborted ? (cursor ?? null) : next };
  }

  private async look(
    lease: LeaseRecord,
    running: ReadonlySet<string> | undefined,
    round: Round,
  ): Promise<Fate> {
    try {
      if (lease.state === 'manual-cleanup') return await this.tryAgain(lease, round);
      const loose = await this.jobs.look(lease);
      if (loose) {
        if (!round.dryRun) await this.jobs.mend(lease, loose);
        return loose === 'send'
          ? { word: 'healed', why: 'it had lost a job' }
          : { word: 'removed', why: loose.why };
      }
      return lease.state === 'running'
        ? await this.lookForContainer(lease, running, round)
        : { word: 'kept' };
    } catch (error) {
      this.journal.trouble(`The sweep of lease ${lease.id}`, error);
      return { word: 'failed', why: (error as Error).message };
    }
  }

  /** One attempt per sweep: the engine may be back, or an operator may have removed the container. */
  private async tryAgain({ id }: LeaseRecord, { dryRun, signal }: Round): Promise<Fate> {
    if (dryRun) return { word: 'removed', why: 'its container still has to be removed' };
    const { outcome } = await this.reaper.end(id, signal, true);
    return outcome === 'ended' || outcome === 'over'
      ? { word: 'removed', why: 'its container could be removed after all' }
      : { word: 'failed', why: 'its container cannot be removed' };
  }

  /** A container missing from the list is read by itself before it counts as gone. */
  private async lookForContainer(
    { id, made }: LeaseRecord,
    running: ReadonlySet<string> | undefined,
    { dryRun, signal }: Round,
  ): Promise<Fate> {
    if (!made || !running || !(await this.engine.isAt(made.engine))) return { word: 'unknown' };
    if (running.has(made.id)) return { word: 'kept' };
    const container = await this.removal.find(id, made, within(signal));
    if (container?.running) return { word: 'kept' };
    const why = container ? 'its container has stopped' : 'its container is gone';
    if (!dryRun) await this.terminator.close(id, 'container-gone', why);
    return { word: 'removed', why };
  }

  /** Undefined if the engine does not answer. */
  private async listRunning(signal: AbortSignal): Promise<ReadonlySet<string> | undefined> {
    try {
      const all = await this.engine.list(this.signature.label, within(signal));
      return new Set(all.filter(({ running }) => running).map(({ id }) => id));
    } catch (error) {
      this.journal.trouble('The engine of leases', error);
      return undefined;
    }
  }
}
