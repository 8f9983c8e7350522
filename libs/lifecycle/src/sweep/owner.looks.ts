import { Injectable } from '@nestjs/common';
import { Keys, RECORD_FIELDS } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { Store } from '../store.js';
import { IDLE_MS } from './owner.directory.js';

/** An owner as it is now: another enqueue, or a cancel, makes it another. */
export interface OwnerLook {
  readonly owner: string;
  readonly epoch: string;
  readonly counter: string;
  /** When it got its last place for a job, ms. */
  readonly lastMs: number;
  readonly jobs: number;
}

/** Looks at owners' records. */
@Injectable()
export class OwnerLooks {
  private readonly keys: Keys;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
  }

  /** So many at a time. */
  async lookAll(owners: readonly string[], atOnce: number): Promise<OwnerLook[]> {
    const looks: OwnerLook[] = [];
    for (let at = 0; at < owners.length; at += atOnce) {
      const slice = owners.slice(at, at + atOnce);
      looks.push(...(await Promise.all(slice.map((owner) => this.look(owner)))));
    }
    return looks;
  }

  async look(owner: string): Promise<OwnerLook> {
    const record = this.keys.ownerText(owner);
    const [[epoch, counter, last], size] = await this.store.call(() =>
      Promise.all([this.store.redis.hmget(record, 'e', 'v', 'l'), this.store.redis.hlen(record)]),
    );
    return {
      owner,
      epoch: epoch ?? '',
      counter: counter ?? '',
      lastMs: Number(last ?? 0),
      jobs: Math.max(0, size - RECORD_FIELDS),
    };
  }
}

/** It has no job, and has had none for so long that no process remembers having listed it. */
export function isIdle({ jobs, lastMs }: OwnerLook, nowMs: number): boolean {
  return jobs === 0 && nowMs - lastMs > IDLE_MS;
}
