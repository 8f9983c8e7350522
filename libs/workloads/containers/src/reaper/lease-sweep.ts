import { Sweep, type Page, type Round } from '#nestjs';
import { Injectable } from '@nestjs/common';
import { LeaseRepository } from '../lease-repository.js';
import { ContainerReconciler } from './container-reconciler.js';
import { LeaseSurvey } from './lease-survey.js';

/**
 * In the order in which a lease passes through its states, so that one that moves on during the sweep is met
 * later.
 */
const PARTS = ['provisioning', 'running', 'manual-cleanup', 'containers'] as const;

interface Position {
  readonly part: number;
  readonly after?: string;
}

/**
 * Compares leases with containers in both directions. Due leases need no sweep: the reconciler handles them
 * in time.
 */
@Injectable()
export class LeaseSweep extends Sweep {
  readonly kind = 'leases';

  constructor(
    private readonly leases: LeaseRepository,
    private readonly leaseSurvey: LeaseSurvey,
    private readonly containerReconciler: ContainerReconciler,
  ) {
    super();
  }

  override async hasWork(): Promise<boolean> {
    if ((await this.leases.places()) > 0) return true;
    // Without leases, an unavailable engine is not an error.
    return this.containerReconciler.isAnyThere(new AbortController().signal).catch(() => false);
  }

  async sweepOnce(limit: number, round: Round): Promise<Page> {
    const { part, after }: Position =
      round.position === undefined ? { part: 0 } : (JSON.parse(round.position) as Position);
    const what = PARTS[part]!;
    const page =
      what === 'containers'
        ? await this.containerReconciler.page(after, limit, round)
        : await this.leaseSurvey.page(what, after, limit, round);
    return { ...page, position: nextOf(part, page.position, round) };
  }
}

function nextOf(part: number, after: string | null, { signal, position }: Round): string | null {
  if (after !== null) return JSON.stringify({ part, after });
  if (signal.aborted) return position ?? JSON.stringify({ part });
  return part + 1 < PARTS.length ? JSON.stringify({ part: part + 1 }) : null;
}
