import { Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { Keys } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { runScript } from '../scripts.js';
import { Store } from '../store.js';

/** A finished job that is to go, and its primary owner, in whose slot it is marked. */
export interface Reaped {
  readonly jobId: string;
  readonly owner: string;
}

/** Leave to remove a job: for a while, by this process's own clock. */
export interface Reap extends Reaped {
  readonly token: string;
  readonly until: number;
}

/** Why there is no leave: it has a place, another has it, it rests after a failure, it is left alone. */
export interface Refused {
  readonly refused: 'placed' | 'wait' | 'rests' | 'quarantined';
  /** Of the last failure. */
  readonly why: string;
}

/** How often it is tried to remove a job before it is left alone. */
const TRIES = 5;
/** How long it is left after a first failure; twice as long after each further one. */
const REST_MS = 60_000;
const MOST_OF_WHY = 300;

/** Which jobs are being removed, each by whom and for how long; and a list of all of them, for what a crash leaves. */
@Injectable()
export class Reaps {
  private readonly keys: Keys;
  private readonly holdMs: number;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
    this.holdMs = options.sweeps?.reapHoldMs ?? LIFECYCLE_DEFAULTS.reapHoldMs;
  }

  /** Before any of them is marked: what is marked is listed. */
  async list(jobs: readonly Reaped[]): Promise<void> {
    if (jobs.length === 0) return;
    const now = await this.store.now();
    await this.store.call(() =>
      this.store.redis.zadd(this.keys.reaping, 'NX', ...jobs.flatMap((job) => [now, memberOf(job)])),
    );
  }

  /** Leave to remove it; or why not. */
  async mark(job: Reaped, force: boolean): Promise<Reap | Refused> {
    const token = randomBytes(9).toString('base64url');
    // Others count from later: from when the store has heard it.
    const until = performance.now() + this.holdMs / 2;
    const [word, why = ''] = await this.ask('mark', job, token, this.holdMs, { force });
    return word === 'marked' ? { ...job, token, until } : { refused: word as Refused['refused'], why };
  }

  /** Why there would be no leave, if so; nothing is written. */
  async look(job: Reaped, force: boolean): Promise<Refused | undefined> {
    const [word, why = ''] = await this.ask('look', job, '', 0, { force });
    return word === 'marked' ? undefined : { refused: word as Refused['refused'], why };
  }

  /** Whether it is to be left alone from now on. */
  async fail(reap: Reap, why: string): Promise<boolean> {
    const [, tries] = await this.ask('fail', reap, reap.token, REST_MS, { why: why.slice(0, MOST_OF_WHY) });
    return Number(tries) >= TRIES;
  }

  /** It is gone, or was not marked at all. */
  async done(reap: Reap): Promise<void> {
    const [word] = await this.ask('done', reap, reap.token, 0);
    if (word === 'done') await this.strike([reap]);
  }

  async strike(jobs: readonly Reaped[]): Promise<void> {
    if (jobs.length === 0) return;
    await this.store.call(() => this.store.redis.zrem(this.keys.reaping, ...jobs.map(memberOf)));
  }

  /** A page of those that are listed; the cursor after the last is '0'. */
  async page(cursor: string, limit: number): Promise<{ jobs: Reaped[]; next: string }> {
    const [next, found] = await this.store.call(() =>
      this.store.redis.zscan(this.keys.reaping, cursor, 'COUNT', limit),
    );
    return { jobs: found.filter((_, i) => i % 2 === 0).map(readMember), next };
  }

  private ask(
    act: string,
    { jobId, owner }: Reaped,
    token: string,
    ms: number,
    { force = false, why = '' } = {},
  ): Promise<string[]> {
    const args = ['', act, jobId, token, ms, TRIES, force ? 1 : 0, why];
    const record = this.keys.ownerText(owner);
    return this.store.call(() => runScript(this.store.redis, 'reap', [record], args) as Promise<string[]>);
  }
}

function memberOf({ jobId, owner }: Reaped): string {
  return `${jobId} ${owner}`;
}

function readMember(text: string): Reaped {
  const cut = text.indexOf(' ');
  return { jobId: text.slice(0, cut), owner: text.slice(cut + 1) };
}
