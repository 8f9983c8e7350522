import { Sweep, Sweeps, type Page, type Round, type SweepKind } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { LeaseRepository } from '../leases.repository.js';
import { ContainerSurvey } from './container.survey.js';
import { LeaseSurvey } from './lease.survey.js';

/** In the order in which a lease goes through its states: whichever moves on meanwhile is met further on. */
const PARTS = ['provisioning', 'running', 'manual-cleanup', 'containers'] as const;

interface Position {
  readonly part: number;
  readonly after?: string;
}

/** Compares leases with containers, both ways. What is due needs no sweep: the care comes to it in time. */
@Injectable()
export class LeaseSweep extends Sweep {
  readonly kind: SweepKind = 'leases';

  constructor(
    sweeps: Sweeps,
    private readonly leases: LeaseRepository,
    private readonly leaseSurvey: LeaseSurvey,
    private readonly containerSurvey: ContainerSurvey,
  ) {
    super(sweeps);
  }

  override async hasWork(): Promise<boolean> {
    if ((await this.leases.places()) > 0) return true;
    // An engine that is away, while there are no leases, is nobody's trouble yet.
    return this.containerSurvey.isAnyThere(new AbortController().signal).catch(() => false);
  }

  async sweepOnce(limit: number, round: Round): Promise<Page> {
    const { part, after }: Position =
      round.position === undefined ? { part: 0 } : (JSON.parse(round.position) as Position);
    const what = PARTS[part]!;
    const page =
      what === 'containers'
        ? await this.containerSurvey.page(after, limit, round)
        : await this.leaseSurvey.page(what, after, limit, round);
    return { ...page, position: nextOf(part, page.position, round) };
  }
}

function nextOf(part: number, after: string | null, { signal, position }: Round): string | null {
  if (after !== null) return JSON.stringify({ part, after });
  if (signal.aborted) return position ?? JSON.stringify({ part });
  return part + 1 < PARTS.length ? JSON.stringify({ part: part + 1 }) : null;
}
