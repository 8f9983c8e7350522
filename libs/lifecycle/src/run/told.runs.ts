import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';
import { Journal } from '../journal.js';
import { Keys } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { Leases } from './leases.js';
import type { Run } from './run.js';
import { RunningJobs } from './running-jobs.js';

const BLOCK_MS = 10_000;
/** How much longer a read may take, before its connection is taken to be dead. */
const GRACE_MS = 3_000;
const AFTER_TROUBLE_MS = 1_000;

/**
 * Hears of cancels as they happen, and has the runs that are meant renew their leases at once: whether it is so, their
 * owners' records say. Whoever can write to the stream, or replay it, stops nothing by that. It is read from where it was
 * left, so that a lost connection loses nothing, also one whose other end has gone without a word; and whatever is missed all
 * the same, the next renewal brings.
 */
@Injectable()
export class ToldRuns implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly keys: Keys;
  private connection: Redis | Cluster | undefined;
  private isClosing = false;

  constructor(
    private readonly options: LifecycleOptions,
    private readonly running: RunningJobs,
    private readonly leases: Leases,
    private readonly journal: Journal,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
  }

  onApplicationBootstrap(): void {
    if (this.options.worker) void this.listen();
  }

  /** Also while running jobs end they want to be told. */
  beforeApplicationShutdown(): void {
    this.isClosing = true;
    this.close();
  }

  private async listen(): Promise<void> {
    const stream = `${this.keys.cancels}:told`;
    let last: string | undefined;
    while (!this.isClosing) {
      const connection = (this.connection ??= this.open());
      try {
        // What was told before this process could run anything is not for it.
        last ??= (await inTime(connection.xrevrange(stream, '+', '-', 'COUNT', 1)))[0]?.[0] ?? '0-0';
        const answer = await inTime(connection.xread('BLOCK', BLOCK_MS, 'STREAMS', stream, last));
        for (const [id, fields] of answer?.[0]?.[1] ?? []) {
          last = id;
          this.tell(fields);
        }
      } catch (error) {
        if (this.isClosing) return;
        if (error instanceof NoAnswer) this.close();
        this.journal.queueError('cancels', error);
        await pause(AFTER_TROUBLE_MS, undefined, { ref: false });
      }
    }
  }

  /** Its own: a read that waits would hold up everything else. */
  private open(): Redis | Cluster {
    const connection = duplicateOf(this.options.redis);
    return connection.on('error', (error: Error) => this.journal.queueError('cancels', error));
  }

  private close(): void {
    this.connection?.disconnect();
    this.connection = undefined;
  }

  private tell([, record, , epoch, , job]: readonly string[]): void {
    for (const run of this.running.all()) {
      if (this.isMeant(run, record!, Number(epoch), job!)) void this.leases.renew(run);
    }
  }

  private isMeant({ jobId, envelope, records }: Run, record: string, epoch: number, job: string): boolean {
    const i = records.indexOf(record);
    if (i === -1) return false;
    return job === '' ? Number(envelope.e[i]) < epoch : job === jobId;
  }
}

function duplicateOf(redis: Redis | Cluster): Redis | Cluster {
  return redis.isCluster ? (redis as Cluster).duplicate() : (redis as Redis).duplicate();
}

class NoAnswer extends Error {}

function inTime<T>(answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const give = (): void =>
      reject(new NoAnswer('The store did not answer in time. It is asked again over a new connection.'));
    const timer = setTimeout(give, BLOCK_MS + GRACE_MS).unref();
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
