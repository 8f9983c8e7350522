import type { Redis } from 'ioredis';
import type { Args, ScriptName, ScriptRunner } from './script-runner.js';

export const LEASE_MS = 100;
export const KEEP_MS = 3_600_000;
const OWNER = 'trip:42';

export type Strategy = '' | 'skip' | 'replace' | 'coalesce';

export interface Reserve {
  readonly job: string;
  readonly strategy: Strategy;
  readonly key: string;
  readonly payload: string;
  /** The epoch that the owner must have; any without. */
  readonly expected?: string;
}

export interface Begin {
  readonly job: string;
  readonly token: string;
  readonly epoch: string;
  readonly life: number | '';
  readonly key: string;
}

export interface Commit {
  readonly job: string;
  readonly token: string;
  readonly epoch: string;
  readonly fence: string;
  readonly result: string;
}

export interface End {
  readonly job: string;
  readonly token: string;
  readonly leaves: boolean;
  readonly key: string;
  readonly epoch: string;
}

export interface Cancel {
  readonly cancelId: string;
  /** The one job; all of the owner without. */
  readonly job?: string;
  readonly close?: boolean;
  readonly occurredAt?: number;
  readonly saw?: readonly [string, string];
}

export interface Drop {
  readonly cancelId: string;
  readonly upTo: string;
  readonly job: string;
  readonly key: string;
}

/** The scripts as calls for one owner; each answers as the script does. */
export class OwnerCalls {
  constructor(
    private readonly run: ScriptRunner,
    readonly record: string,
  ) {}

  reserve(now: number, call: Reserve, limit: number | '' = ''): Promise<string[]> {
    const { job, strategy, key, payload, expected = '' } = call;
    return this.one('reserve', [now, OWNER, job, limit, strategy, key, payload, expected]);
  }

  begin(now: number, { job, token, epoch, life, key }: Begin): Promise<string[]> {
    return this.one('begin', [now, job, token, epoch, life, LEASE_MS, key, 1]);
  }

  renew(
    now: number,
    { job, token, epoch }: { job: string; token: string; epoch: string },
  ): Promise<string[]> {
    return this.one('renew', [now, job, token, epoch, LEASE_MS]);
  }

  commit({ job, token, epoch, fence, result }: Commit): Promise<string[]> {
    return this.one('commit', [job, token, epoch, fence, result]);
  }

  end(now: number, { job, token, leaves, key, epoch }: End): Promise<string[]> {
    return this.one('end', [now, KEEP_MS, KEEP_MS, job, token, leaves ? 1 : 0, key, epoch]);
  }

  async cancel(now: number, cancel: Cancel): Promise<string[]> {
    const { cancelId, job = '', close = false, occurredAt = '', saw = ['', ''] } = cancel;
    const args = [now, cancelId, close ? 1 : 0, OWNER, ...saw, KEEP_MS, KEEP_MS, occurredAt, job, '{}'];
    return (await this.run('cancel', [this.record], args)) as string[];
  }

  async reopen(now: number): Promise<string[]> {
    return (await this.run('reopen', [this.record], [now, OWNER, KEEP_MS, 0])) as string[];
  }

  /** Answers whether it was dropped. */
  async drop(now: number, { cancelId, upTo, job, key }: Drop): Promise<boolean> {
    const args = [now, KEEP_MS, KEEP_MS, cancelId, upTo, 9, KEEP_MS, job, 'q|waiting', key, '{}'];
    return (await this.run('drop', [this.record], args)) === 1;
  }

  private async one(name: ScriptName, args: Args): Promise<string[]> {
    const [answer] = (await this.run(name, [this.record], args)) as string[][];
    return answer!;
  }
}

/** Every key of an owner, receipts too. */
export async function unlinkOwner(redis: Redis, record: string): Promise<void> {
  const receipts = await redis.keys(`${record}:cancel:*`);
  const others = ['', ':runs', ':dedup', ':late', ':done', ':reap', ':cancels', ':history'].map(
    (end) => record + end,
  );
  await redis.unlink(...others, ...receipts);
}
