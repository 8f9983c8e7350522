import { Injectable } from '@nestjs/common';
import type { Job, Queue } from 'bullmq';
import { FoundJobs } from '../cancel/found.jobs.js';
import { Removals } from '../history/removals.js';
import { Journal, reason } from '../journal.js';
import { openEnvelope } from '../kinds/envelope.js';
import { LifecycleOptions } from '../options.js';
import { Store } from '../store.js';
import type { Fate } from './fate.js';
import { Quarantine } from './quarantine.js';
import { Reaps, type Reap, type Reaped, type Refused } from './reaps.js';
import type { Over } from './retention.measures.js';
import type { EndedState } from './retention.position.js';

/** A finished job that is to go, and why. */
export interface Retired extends Over {
  readonly job: Job;
  readonly queue: Queue;
  readonly state: EndedState;
}

/** What became of one, or why it is there still. */
export interface Retiring {
  readonly fate: Fate;
  readonly waits?: 'resting' | 'quarantined';
  readonly why?: string;
}

/**
 * Removes a finished job, and before it what it left behind. Each step may be done twice, and the order makes a crash
 * harmless: listed and marked, its artifacts, why it goes, the job, and last the mark. Who dies in between is followed by
 * one who finds the job over its measure still; or, when it is gone already, the list.
 */
@Injectable()
export class Retirement {
  constructor(
    private readonly options: LifecycleOptions,
    private readonly store: Store,
    private readonly reaps: Reaps,
    private readonly found: FoundJobs,
    private readonly removals: Removals,
    private readonly quarantine: Quarantine,
    private readonly journal: Journal,
  ) {}

  /** To be listed before any is retired; undefined for one that is not ours, which is nobody's to remove. */
  reapedOf(job: Job): Reaped | undefined {
    try {
      return { jobId: job.id!, owner: openEnvelope(job).o[0]! };
    } catch {
      return undefined;
    }
  }

  retire(reaped: Reaped, retired: Retired, force: boolean): Promise<Retiring> {
    return this.tried(reaped, async () => {
      const reap = (await this.isYoung(reaped, retired)) ? YOUNG : await this.reaps.mark(reaped, force);
      if ('refused' in reap) return this.leave(reaped, reap);
      return this.whileHeld(reap, () => this.remove(reap, retired));
    });
  }

  /** What would become of it; nothing is noted. */
  judge(reaped: Reaped, retired: Retired, force: boolean): Promise<Retiring> {
    return this.tried(reaped, async () => {
      if (await this.isYoung(reaped, retired)) return KEPT;
      const refused = await this.reaps.look(reaped, force);
      return refused ? stays(refused) : { fate: 'removed' };
    });
  }

  /** What a crash has left of one whose job is gone: nothing is left of it then. */
  finish(reaped: Reaped): Promise<Retiring> {
    return this.tried(reaped, async () => {
      const { state } = await this.found.find(reaped.jobId);
      if (state !== 'unknown') return KEPT;
      const reap = await this.reaps.mark(reaped, true);
      if ('refused' in reap) return this.leave(reaped, reap);
      return this.whileHeld(reap, async () => {
        await this.removeArtifacts(reap);
        await this.forget(reap);
      });
    });
  }

  private async leave(reaped: Reaped, refused: Refused): Promise<Retiring> {
    // It is not marked, so it is not listed for long.
    if (refused.refused === 'placed') await this.reaps.strike([reaped]);
    // Who saw it fail for the last time may have died before it could say so.
    if (refused.refused === 'quarantined') await this.quarantine.add(reaped.jobId, refused.why || undefined);
    return stays(refused);
  }

  /** When a job ended its worker said, by a clock that may be behind; when its artifacts were written the store did. */
  private async isYoung({ jobId }: Reaped, { before }: Retired): Promise<boolean> {
    if (before === undefined) return false;
    const since = await this.options.artifacts?.writtenAt(jobId);
    return since !== undefined && since > before;
  }

  /** One that cannot even be marked is left for the next sweep, and holds up no other. */
  private async tried({ jobId }: Reaped, work: () => Promise<Retiring>): Promise<Retiring> {
    try {
      return await work();
    } catch (error) {
      return this.failed(jobId, error);
    }
  }

  /** Should it fail, the job stays, and leads there. */
  private async whileHeld(reap: Reap, work: () => Promise<void>): Promise<Retiring> {
    try {
      await work();
      return { fate: 'removed' };
    } catch (error) {
      const why = reason(error);
      if (await this.reaps.fail(reap, why)) await this.quarantine.add(reap.jobId, why);
      return this.failed(reap.jobId, error);
    }
  }

  private failed(jobId: string, error: unknown): Retiring {
    this.journal.sweepTrouble('retention', jobId, error);
    return { fate: 'failed', why: reason(error) };
  }

  private async remove(reap: Reap, { job, queue, state, why }: Retired): Promise<void> {
    const { jobId } = reap;
    await this.removeArtifacts(reap);
    const at = new Date(await this.store.now()).toISOString();
    const { o: owners } = openEnvelope(job);
    const removal = { id: jobId, queue: queue.name, kind: job.name, owners, state, at } as const;
    await this.store.call(() =>
      this.removals.note({ ...removal, why: 'retention', reason: why, by: 'janitor' }),
    );
    checkHeld(reap);
    const isRemoved = await this.store.call(() => queue.remove(jobId, { removeChildren: false }));
    // Somebody had it tried once more by hand, and a worker just has it: the gate refuses it.
    if (isRemoved === 0) throw new Error('a worker has it');
    await this.forget(reap);
  }

  private async removeArtifacts(reap: Reap): Promise<void> {
    checkHeld(reap);
    await this.options.artifacts?.removeAll(reap.jobId);
  }

  private async forget(reap: Reap): Promise<void> {
    await this.quarantine.remove(reap.jobId);
    await this.reaps.done(reap);
  }
}

const KEPT: Retiring = { fate: 'kept' };
const YOUNG: Refused = { refused: 'placed', why: '' };

function stays({ refused, why }: Refused): Retiring {
  switch (refused) {
    case 'wait':
    case 'placed':
      return KEPT;
    case 'rests':
      return { fate: 'kept', waits: 'resting', why };
    case 'quarantined':
      return { fate: 'kept', waits: 'quarantined', why };
  }
}

/** Later another may be at it, and the id may even be a new job's. */
function checkHeld({ until }: Reap): void {
  if (performance.now() > until) throw new Error('it took too long to remove');
}
