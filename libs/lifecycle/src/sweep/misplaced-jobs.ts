import { Injectable } from '@nestjs/common';
import { QueueKeys, type Queue } from 'bullmq';
import { MISPLACED_KEEP_MS, misplacedKey } from '../keys.js';
import { runScript } from '../scripts.js';
import { Store } from '../store.js';
import { Healing, type Tally } from './healing.js';
import type { Round } from './sweep.js';

/** What is a hash by right, or is no key of its own: a job of that id harms nothing. */
const HARMLESS = new Set(['', 'meta', 'de']);
/** The words that BullMQ's keys of a queue end with. */
export const KEY_WORDS = Object.keys(new QueueKeys().getKeys('any')).filter((word) => !HARMLESS.has(word));

/**
 * Jobs of other programs whose id is a word of BullMQ's own keys. Such a hash makes every command on that key fail: nothing can be
 * enqueued, taken or ended. It moves to a key of ours, whole, and the queue works again.
 */
@Injectable()
export class MisplacedJobs {
  constructor(
    private readonly store: Store,
    private readonly healing: Healing,
  ) {}

  async moveAway(queue: Queue, tally: Tally, { dryRun }: Round): Promise<void> {
    for (const word of await this.find(queue)) {
      const to = misplacedKey(queue, word, await this.store.now());
      if (!dryRun && !(await this.move(queue, word, to))) continue;
      const why = `a job of another program's with the id "${word}", a key of BullMQ's own; kept as ${to}`;
      this.healing.count('misplaced', queue.toKey(word), why, tally, dryRun);
    }
  }

  /** The words of keys at which a job stands. */
  async find(queue: Queue): Promise<string[]> {
    const { redis } = this.store;
    const types = await this.store.call(() =>
      Promise.all(KEY_WORDS.map((word) => redis.type(queue.toKey(word)))),
    );
    return KEY_WORDS.filter((_, i) => types[i] === 'hash');
  }

  /** False when another process has just moved it. */
  private async move(queue: Queue, word: string, to: string): Promise<boolean> {
    const keys = [queue.toKey(word), to, ...KEY_WORDS.map((other) => queue.toKey(other))];
    const args = [word, MISPLACED_KEEP_MS];
    return (await this.store.call(() => runScript(this.store.redis, 'misplaced', keys, args))) === 1;
  }
}
