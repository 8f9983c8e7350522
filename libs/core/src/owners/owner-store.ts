import type { Held } from '../backend/durable-writes.js';
import type { MooredBackend } from '../backend/moored-backend.js';
import { durationMs } from '../model/duration.js';
import { escapeText } from '../scripts/escape.js';
import type { ComposedName } from '../scripts/recipes.js';
import { formatOwner, type Owner } from '../model/owner.js';

const MOST_PURGED_IN_ONE_STEP = 200;

/** The records of owners under one prefix, and the scripts that work on them. */
export class OwnerStore {
  constructor(private readonly backend: MooredBackend) {}

  get root(): string {
    return this.backend.root;
  }

  nameOf(owner: Owner): string {
    return escapeText(formatOwner(owner));
  }

  recordOf(name: string): string {
    return `${this.root}~owner~${name}`;
  }

  receiptOf(cancelId: string): string {
    return `${this.root}~receipt~${cancelId}`;
  }

  /** Runs a script on a key; the prefix of the queues stands first among its arguments. */
  async run<Answer>(name: ComposedName, key: string, args: readonly (string | number)[]): Promise<Answer> {
    return (await this.backend.run(name, [key, this.root, ...args])) as Answer;
  }

  /** Runs a write, and says whether it is durable. */
  hold<Answer>(write: () => Promise<Answer>): Promise<Held<Answer>> {
    return this.backend.writes.hold(write);
  }

  async readRange(key: string, from: number, to: number): Promise<string[]> {
    return (await this.backend.client).zrange(key, from, to);
  }

  /** The members of a sorted set below this score, the highest first, each with its score. */
  async rangeBefore(key: string, score: string | undefined, most: number): Promise<string[]> {
    const from = score === undefined ? '+inf' : `(${score}`;
    const args = [key, from, '-inf', 'WITHSCORES', 'LIMIT', 0, most];
    return (await (await this.backend.client).runCommand('zrevrangebyscore', args)) as string[];
  }

  async fieldsOf(key: string): Promise<Record<string, string>> {
    return (await this.backend.client).hgetall(key);
  }

  async linesOf(key: string, from: number, to: number): Promise<string[]> {
    return (await this.backend.client).lrange(key, from, to);
  }

  /** Forgets owners that were closed or reopened so long ago without ever having had a job. Answers how many. */
  async purgeClosed(olderThan: number | string): Promise<number> {
    const args = [durationMs('olderThan', olderThan), MOST_PURGED_IN_ONE_STEP];
    let [seen, purged] = [MOST_PURGED_IN_ONE_STEP, 0];
    while (seen === MOST_PURGED_IN_ONE_STEP) {
      const page = await this.run<[seen: number, purged: number]>('purgeClosed', this.recordOf(''), args);
      seen = page[0];
      purged += page[1];
    }
    return purged;
  }

  /** Answers the store's time, µs. */
  async takeLate(): Promise<number> {
    return Number(await this.run('takeLate', this.recordOf(''), []));
  }

  close(): Promise<void> {
    return this.backend.close();
  }
}
