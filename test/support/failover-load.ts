import { setTimeout as pause } from 'node:timers/promises';
import type { Fleet } from './fleet.js';
import { until } from './until.js';

const CALLERS = 8;
const PAUSE_MS = 10;
/** So that each job still exists for the check. */
const LATER = { kind: 'probe', payload: {}, delay: '10m' };

/** An answered call and its time, in ms of `performance.now`. */
interface Answered {
  readonly id: string;
  readonly at: number;
  readonly durable: unknown;
}

interface Failed {
  readonly status: number;
  readonly code: unknown;
  readonly mayTryAgain: boolean;
  readonly at: number;
}

/** Answered writes that the store does not have. */
export interface Lost {
  readonly jobs: readonly Answered[];
  readonly receipts: readonly Answered[];
  /** Jobs that wait again although the cancel of their owner was answered. */
  readonly revived: readonly Answered[];
}

/** Callers that enqueue jobs and cancel owners, one call after the other, and record the answers. */
export class FailoverLoad {
  readonly jobs: Answered[] = [];
  readonly cancels: (Answered & { readonly job: string })[] = [];
  readonly failed: Failed[] = [];
  private isOver = false;
  private readonly callers: Promise<unknown>;

  constructor(private readonly fleet: Fleet) {
    this.callers = Promise.all(Array.from({ length: CALLERS }, (_, caller) => this.call(caller)));
  }

  /** Waits for calls of both kinds, which use different connections to the store. */
  async untilMoreAccepted(): Promise<void> {
    const [jobs, cancels] = [this.jobs.length + 50, this.cancels.length + 15];
    await until(() => this.jobs.length > jobs && this.cancels.length > cancels, 'more is accepted');
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.callers;
  }

  /** Compares the store with every answer. */
  async lost(): Promise<Lost> {
    const states = await this.statesOf(this.jobs);
    const isCancelled = new Set(this.cancels.map(({ job }) => job));
    const ofCancelled = this.cancels.map((cancel) => ({ ...cancel, id: cancel.job }));
    const alive = await this.statesOf(ofCancelled);
    const receipts = await inPages(this.cancels, ({ id }) =>
      this.fleet.request('GET', `/v1/cancellations/${id}`),
    );
    return {
      jobs: this.jobs.filter(({ id }, i) => states[i] === 404 && !isCancelled.has(id)),
      receipts: this.cancels.filter((_, i) => receipts[i]!.status === 404),
      revived: ofCancelled.filter((_, i) => alive[i] === 'delayed'),
    };
  }

  private async statesOf(jobs: readonly Answered[]): Promise<unknown[]> {
    const answers = await inPages(jobs, ({ id }) => this.fleet.request('GET', `/v1/jobs/${id}`));
    return answers.map(({ status, body }) => (status === 200 ? body['state'] : status));
  }

  /** Every third owner is cancelled as soon as it has its job. */
  private async call(caller: number): Promise<void> {
    for (let n = 0; !this.isOver; n += 1) {
      const id = `${caller}-${n}`;
      const job = await this.ask('/v1/jobs', { ...LATER, owners: [`trip:${id}`] });
      if (job) {
        this.jobs.push(job);
        const cancel =
          n % 3 === 0 && (await this.ask(`/v1/owners/trip/${id}/cancel`, { reason: 'r', cancelId: id }));
        if (cancel) this.cancels.push({ ...cancel, id, job: job.id });
      }
      await pause(PAUSE_MS);
    }
  }

  private async ask(path: string, body: unknown): Promise<Answered | undefined> {
    const answer = await this.fleet.request('POST', path, body);
    const at = performance.now();
    const { status, headers, body: said } = answer;
    if (status < 300) return { id: String(said['id']), at, durable: said['durable'] };
    this.failed.push({ status, code: said['code'], mayTryAgain: headers.has('retry-after'), at });
    return undefined;
  }
}

async function inPages<T, R>(all: readonly T[], ask: (one: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  for (let i = 0; i < all.length; i += 50) {
    answers.push(...(await Promise.all(all.slice(i, i + 50).map(ask))));
  }
  return answers;
}
