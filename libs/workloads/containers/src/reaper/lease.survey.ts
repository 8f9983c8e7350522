import { Journal, type Page, type Round, type SweepLine } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { isIn } from '../engine.place.js';
import { ContainerEngine, type Container } from '../engines/container.engine.js';
import { ContainerRemoval } from '../containers.removal.js';
import { FleetSignature } from '../fleet.signature.js';
import { LeaseClosing } from '../lease.closing.js';
import type { LeaseRecord, LeaseState } from '../lease.js';
import { LeaseRepository } from '../leases.repository.js';
import { LeaseMoorings } from './lease.moorings.js';
import { LeaseReaper } from './lease.reaper.js';

const LOOK_MS = 10_000;
/** So many at once: of an engine that hangs, a page takes not as long as all its calls. */
export const AT_ONCE = 8;

type Fate =
  | { readonly word: 'kept' | 'unknown' }
  | { readonly word: 'removed' | 'healed' | 'failed'; readonly why: string };

/** From the leases to their containers: each lease still hangs on what it did, and has its container. */
@Injectable()
export class LeaseSurvey {
  constructor(
    private readonly leases: LeaseRepository,
    private readonly engine: ContainerEngine,
    private readonly signature: FleetSignature,
    private readonly removal: ContainerRemoval,
    private readonly moorings: LeaseMoorings,
    private readonly closing: LeaseClosing,
    private readonly reaper: LeaseReaper,
    private readonly journal: Journal,
  ) {}

  /** A page of those in one state; its position is where the next page of them begins. */
  async page(state: LeaseState, cursor: string | undefined, limit: number, round: Round): Promise<Page> {
    const { leases, cursor: next } = await this.leases.walk(state, cursor, limit);
    const running =
      state === 'running' && leases.length > 0 ? await this.listRunning(round.signal) : undefined;
    const counts = { seen: 0, kept: 0, unknown: 0, removed: 0, healed: 0, failed: 0 };
    const lines: SweepLine[] = [];
    for (let i = 0; i < leases.length && !round.signal.aborted; i += AT_ONCE) {
      const some = leases.slice(i, i + AT_ONCE);
      const fates = await Promise.all(some.map((lease) => this.look(lease, running, round)));
      for (const [j, fate] of fates.entries()) {
        counts.seen += 1;
        counts[fate.word] += 1;
        if ('why' in fate) lines.push({ what: `lease:${some[j]!.id}`, why: fate.why });
      }
    }
    return { ...counts, lines, position: round.signal.aborted ? (cursor ?? null) : next };
  }

  private async look(
    lease: LeaseRecord,
    running: ReadonlySet<string> | undefined,
    round: Round,
  ): Promise<Fate> {
    try {
      if (lease.state === 'manual-cleanup') return await this.tryAgain(lease, round);
      const loose = await this.moorings.look(lease);
      if (loose) {
        if (!round.dryRun) await this.moorings.mend(lease, loose);
        return loose === 'send'
          ? { word: 'healed', why: 'it had lost a job' }
          : { word: 'removed', why: loose.why };
      }
      return lease.state === 'running'
        ? await this.lookForContainer(lease, running, round)
        : { word: 'kept' };
    } catch (error) {
      this.journal.sweepTrouble('leases', lease.id, error);
      return { word: 'failed', why: (error as Error).message };
    }
  }

  /** One attempt each time: an engine that was away is there again, or somebody has removed it by hand. */
  private async tryAgain({ id }: LeaseRecord, { dryRun, signal }: Round): Promise<Fate> {
    if (dryRun) return { word: 'removed', why: 'its container is to be removed still' };
    const { outcome } = await this.reaper.end(id, signal, true);
    return outcome === 'ended' || outcome === 'over'
      ? { word: 'removed', why: 'its container could be removed after all' }
      : { word: 'failed', why: 'its container cannot be removed' };
  }

  /** What the list does not have is asked for by itself before anything is said of it. */
  private async lookForContainer(
    { id, made }: LeaseRecord,
    running: ReadonlySet<string> | undefined,
    { dryRun, signal }: Round,
  ): Promise<Fate> {
    if (!made || !running || !isIn(made.engine, this.engine)) return { word: 'unknown' };
    if (running.has(made.id)) return { word: 'kept' };
    const container = await this.removal.find(id, made, within(signal));
    if (container?.running) return { word: 'kept' };
    const why = container ? 'its container has stopped' : 'its container is gone';
    if (!dryRun) await this.closing.close(id, 'container-gone', why);
    return { word: 'removed', why };
  }

  /** Nothing, when the engine does not say. */
  private async listRunning(signal: AbortSignal): Promise<ReadonlySet<string> | undefined> {
    try {
      const all: readonly Container[] = await this.engine.list(this.signature.label, within(signal));
      return new Set(all.filter(({ running }) => running).map(({ id }) => id));
    } catch (error) {
      this.journal.sweepTrouble('leases', 'the engine', error);
      return undefined;
    }
  }
}

export function within(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(LOOK_MS)]);
}
