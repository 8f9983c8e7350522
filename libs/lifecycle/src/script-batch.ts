import type { Cluster, Redis } from 'ioredis';
import { runScript, type ScriptName } from './scripts.js';

/** What one call asks of a script that answers for many: its key, and its share of the arguments. */
export interface Entry {
  readonly key: string;
  readonly args: readonly (string | number)[];
}

export type Answer = readonly [string, ...(string | undefined)[]];

interface Waiting {
  readonly entry: Entry;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Above this a script would hold the store for too long. */
const MOST_AT_ONCE = 64;

/**
 * Puts together what is asked in the same turn of the event loop: one script for many jobs. On a Cluster only what
 * shares a key's slot can go together.
 */
export class ScriptBatch {
  private waiting: Waiting[] = [];

  constructor(
    private readonly redis: Redis | Cluster,
    private readonly script: ScriptName,
    /** Arguments that come before those of the entries. */
    private readonly head: () => readonly (string | number)[] = () => [],
  ) {}

  ask(key: string, args: readonly (string | number)[]): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.waiting.length === 0) setImmediate(() => this.flush());
      this.waiting.push({ entry: { key, args }, resolve, reject });
      if (this.waiting.length >= MOST_AT_ONCE) this.flush();
    });
  }

  private flush(): void {
    const { waiting } = this;
    if (waiting.length === 0) return;
    this.waiting = [];
    for (const group of this.redis.isCluster ? byKey(waiting) : [waiting]) void this.send(group);
  }

  private async send(group: readonly Waiting[]): Promise<void> {
    const keys: string[] = [];
    const args: (string | number)[] = [...this.head()];
    for (const { entry } of group) {
      keys.push(entry.key);
      args.push(...entry.args);
    }
    try {
      const answers = (await runScript(this.redis, this.script, keys, args)) as Answer[];
      for (const [i, { resolve, reject }] of group.entries()) {
        const answer = answers[i]!;
        if (answer[0] === 'error') reject(new Error(`${this.script}: ${answer[1]}`));
        else resolve(answer);
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}

function byKey(waiting: readonly Waiting[]): Waiting[][] {
  const groups = new Map<string, Waiting[]>();
  for (const one of waiting) {
    const group = groups.get(one.entry.key);
    if (group) group.push(one);
    else groups.set(one.entry.key, [one]);
  }
  return [...groups.values()];
}
