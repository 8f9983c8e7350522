import { Injectable } from '@nestjs/common';
import { Keys, REMOVALS_BYTES, REMOVALS_KEPT } from '../keys.js';
import { queueOfJobId } from '../kinds/ids.js';
import type { Owner } from '../kinds/owner.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { runScript } from '../scripts.js';
import { Store } from '../store.js';

/** Why a job is no more; or a schedule, in an owner's history. */
export interface Removal {
  readonly id: string;
  readonly queue: string;
  /** Absent when the job was gone before anybody could read it. */
  readonly kind?: string;
  readonly owners?: readonly string[];
  /** The state it was in; `schedule` of a schedule. */
  readonly state: string;
  readonly at: string;
  readonly why: 'cancelled' | 'expired' | 'retention' | 'orphan';
  readonly reason?: string;
  readonly by?: string;
  readonly cancelId?: string;
}

export interface HistoryView {
  readonly owner: string;
  /** The newest first. */
  readonly entries: readonly Removal[];
  /** Where the next page begins; null on the last one. */
  readonly cursor: string | null;
}

const PAGE = 100;
/** Above this the script would hold the store for too long. */
const MOST_AT_ONCE = 64;

interface Noting {
  readonly removal: Removal;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Remembers why jobs were removed: by job for whoever asks for it, by owner for its history. Bounded in number and age. */
@Injectable()
export class Removals {
  private readonly keys: Keys;
  private readonly keepMs: number;
  /** By what they are noted in. */
  private readonly noting = new Map<string, Noting[]>();

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
    this.keepMs = options.receiptKeepMs ?? LIFECYCLE_DEFAULTS.receiptKeepMs;
  }

  /** Before it is removed: who asks in between finds the job itself. What is noted in one turn goes together. */
  note(removal: Removal): Promise<void> {
    // Retention removes every job there is in the end: it must not push out why others were cancelled.
    const key =
      removal.why === 'retention' ? this.keys.goneOver(removal.queue) : this.keys.gone(removal.queue);
    return new Promise((resolve, reject) => {
      const turn = this.noting.get(key) ?? [];
      if (turn.length === 0) {
        this.noting.set(key, turn);
        setImmediate(() => this.flush(key, turn));
      }
      turn.push({ removal, resolve, reject });
      if (turn.length >= MOST_AT_ONCE) this.flush(key, turn);
    });
  }

  async find(jobId: string): Promise<Removal | undefined> {
    const queue = queueOfJobId(jobId);
    if (!queue) return undefined;
    const texts = await this.store.call(() =>
      Promise.all(
        [this.keys.gone(queue), this.keys.goneOver(queue)].map((key) => this.store.redis.hget(key, jobId)),
      ),
    );
    const found = texts.filter((text) => text !== null).map((text) => JSON.parse(text) as Removal);
    // An id may have been used again.
    return found.toSorted((a, b) => b.at.localeCompare(a.at))[0];
  }

  async ofOwner(owner: Owner, cursor = '0'): Promise<HistoryView> {
    const from = Number(cursor);
    const lines = await this.store.call(() =>
      this.store.redis.lrange(`${this.keys.owner(owner)}:history`, from, from + PAGE),
    );
    return {
      owner: `${owner.type}:${owner.id}`,
      entries: lines.slice(0, PAGE).map((line) => JSON.parse(line) as Removal),
      cursor: lines.length > PAGE ? String(from + PAGE) : null,
    };
  }

  private flush(key: string, turn: readonly Noting[]): void {
    if (this.noting.get(key) !== turn) return;
    this.noting.delete(key);
    const whys = turn.flatMap(({ removal }) => [removal.id, JSON.stringify(removal)]);
    const args = ['', REMOVALS_KEPT, this.keepMs, REMOVALS_BYTES, ...whys];
    runScript(this.store.redis, 'remember', [key], args).then(
      () => turn.forEach(({ resolve }) => resolve()),
      (error: unknown) => turn.forEach(({ reject }) => reject(error)),
    );
  }
}
