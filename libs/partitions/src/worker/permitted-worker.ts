import type { Job, RedisQueueBackend } from 'bullmq';
import { MooredWorker, PartitionsError } from '#core';
import type { RunPermits } from './run-permits.js';

const PUT_MARKER = 'mooring:wakeWorker';
const LUA = `return redis.call('ZADD', KEYS[1], 0, '0')`;

type Anything = Job['data'];
type Fetched<D, R, N extends string> = Awaited<ReturnType<MooredWorker<D, R, N>['getNextJob']>>;
type Processed<D, R, N extends string> = Parameters<MooredWorker<D, R, N>['processJob']>;

/** The worker of one partition. Each of its runs needs a permit, if it was given any to share. */
export class PermittedWorker<D = Anything, R = Anything, N extends string = string> extends MooredWorker<
  D,
  R,
  N
> {
  permits: RunPermits | undefined;
  private foundNothing = false;

  protected override moveToActive(token: string, name?: string): Promise<Fetched<D, R, N>> {
    if (!this.permits || !this.isRunning()) return super.moveToActive(token, name);
    return this.fetch(this.permits, token, () => super.moveToActive(token, name));
  }

  private async fetch(
    permits: RunPermits,
    token: string,
    fetch: () => Promise<Fetched<D, R, N>>,
  ): Promise<Fetched<D, R, N>> {
    if (!permits.take(token) && !(await this.wait(permits, token))) return undefined as never;
    let job: Fetched<D, R, N> | undefined;
    try {
      job = await fetch();
    } finally {
      if (!job) permits.free(token);
    }
    this.foundNothing = !job;
    return job;
  }

  override processJob(
    ...[job, token, fetchesNext = () => true]: Processed<D, R, N>
  ): ReturnType<MooredWorker<D, R, N>['processJob']> {
    const { permits } = this;
    if (!permits) return super.processJob(job, token, fetchesNext);
    const mayGoOn = () => fetchesNext() && permits.mayGoOn(token);
    return freeAfter(permits, token, super.processJob(job, token, mayGoOn));
  }

  /** A worker whose partitions are wrong does not begin: it would ask for jobs again and again, and be refused each time. */
  override async startStalledCheckTimer(): Promise<void> {
    await this.backend.client.catch((error: unknown) => {
      if (error instanceof PartitionsError) throw error;
    });
    return super.startStalledCheckTimer();
  }

  override async pause(doNotWaitActive?: boolean): Promise<void> {
    const paused = super.pause(doNotWaitActive);
    this.permits?.dismiss(this);
    await paused;
  }

  override async close(force?: boolean): Promise<void> {
    const closed = super.close(force);
    this.permits?.dismiss(this);
    await closed;
  }

  /**
   * Waits for a permit. BullMQ's loop goes on with the jobs it has while its worker is `waiting`, as it does when it waits for the store.
   */
  private async wait(permits: RunPermits, token: string): Promise<boolean> {
    const loop = this as unknown as { waiting: Promise<unknown> | null };
    const permitted = permits.wait(this, token);
    const waitsAlready = loop.waiting !== null;
    if (!waitsAlready) loop.waiting = permitted;
    try {
      if (this.foundNothing) this.wakeAnother();
      return await permitted;
    } finally {
      if (!waitsAlready) loop.waiting = null;
    }
  }

  /** The store has told this worker alone that there is a job, and it has no permit: the worker of another process may have one. */
  private wakeAnother(): void {
    this.foundNothing = false;
    // Without it the other worker looks by itself, after its `drainDelay`.
    this.backend.client.then((client) => putMarker(client, this.keys['marker']!)).catch(() => undefined);
  }
}

/** The marker by which BullMQ tells one of the workers that wait that there is a job. */
function putMarker(client: Awaited<RedisQueueBackend['client']>, marker: string): Promise<unknown> {
  if (!(PUT_MARKER in client)) client.defineCommand(PUT_MARKER, { lua: LUA, numberOfKeys: 1 });
  return client.runCommand(PUT_MARKER, [marker]);
}

/** A run that goes on with a next job keeps its permit. */
async function freeAfter<T>(permits: RunPermits, token: string, run: Promise<T>): Promise<T> {
  let next: T | undefined;
  try {
    next = await run;
    return next;
  } finally {
    if (!next) permits.free(token);
  }
}
