import { Injectable } from '@nestjs/common';
import { Keys, SWEEP_KEEP_MS } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { runScript } from '../scripts.js';
import { Store } from '../store.js';
import { SweepOvertaken, type Round } from './sweep.js';

/** An owner that is to go, as it was when that was found. */
export interface Doom {
  readonly owner: string;
  readonly epoch: string;
  readonly counter: string;
  readonly goneSince: number;
  /** When its resolver was asked last, ms; absent in what an older janitor wrote. */
  readonly askedAt?: number;
}

/** Whom a sweep has found to be gone: written down, so that they can be counted before the first one goes. */
@Injectable()
export class Doomed {
  private readonly keys: Keys;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
  }

  /**
   * What a page of owners came to: those of whom `dooms` says nothing are not to go, whatever a process that died over this
   * page wrote. Not by one who was overtaken: what it asked is too old.
   */
  async write(
    { sweepId, fence }: Pick<Round, 'sweepId' | 'fence'>,
    owners: readonly string[],
    dooms: readonly Doom[],
  ): Promise<void> {
    if (owners.length === 0) return;
    const args = ['orphans', fence, sweepId, SWEEP_KEEP_MS];
    const texts = new Map(dooms.map(({ owner, ...seen }) => [owner, JSON.stringify(seen)]));
    const fields = owners.flatMap((owner) => [owner, texts.get(owner) ?? '']);
    const [word] = await this.store.call(
      () =>
        runScript(this.store.redis, 'doom', [this.keys.sweeps], [...args, ...fields]) as Promise<[string]>,
    );
    if (word === 'lost') throw new SweepOvertaken();
  }

  /** They are gone, or stay, or are to be asked about anew. */
  async forget(sweepId: string): Promise<void> {
    await this.store.call(() => this.store.redis.unlink(this.key(sweepId)));
  }

  async page(sweepId: string, cursor: string, limit: number): Promise<{ dooms: Doom[]; next: string }> {
    const [next, found] = await this.store.call(() =>
      this.store.redis.hscan(this.key(sweepId), cursor, 'COUNT', limit),
    );
    const dooms: Doom[] = [];
    for (let i = 0; i < found.length; i += 2)
      dooms.push({ owner: found[i]!, ...(JSON.parse(found[i + 1]!) as Omit<Doom, 'owner'>) });
    return { dooms, next };
  }

  private key(sweepId: string): string {
    return `${this.keys.sweeps}:${sweepId}:doomed`;
  }
}
