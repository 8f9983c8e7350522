import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';
import { Journal } from '../journal.js';
import { Keys } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import type { Run } from './run.js';
import { RunningJobs } from './running-jobs.js';
import { OwnerCancelled } from './stop-reasons.js';

const BLOCK_MS = 10_000;
const AFTER_TROUBLE_MS = 1_000;

/**
 * Hears of cancels as they happen, and tells the runs of this process. A stream is read from where it was left, so that a
 * lost connection loses nothing; and whatever is missed all the same, the renewal of the leases brings.
 */
@Injectable()
export class ToldRuns implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly keys: Keys;
  private connection: Redis | Cluster | undefined;
  private isClosing = false;

  constructor(
    private readonly options: LifecycleOptions,
    private readonly running: RunningJobs,
    private readonly journal: Journal,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
  }

  onApplicationBootstrap(): void {
    if (!this.options.worker) return;
    // Its own: a read that waits would hold up everything else.
    this.connection = duplicateOf(this.options.redis);
    this.connection.on('error', (error: Error) => this.journal.queueError('cancels', error));
    void this.listen(this.connection);
  }

  /** Also while running jobs end they want to be told. */
  beforeApplicationShutdown(): void {
    this.isClosing = true;
    this.connection?.disconnect();
  }

  private async listen(connection: Redis | Cluster): Promise<void> {
    const stream = `${this.keys.cancels}:told`;
    let last: string | undefined;
    while (!this.isClosing) {
      try {
        // What was told before this process could run anything is not for it.
        last ??= (await connection.xrevrange(stream, '+', '-', 'COUNT', 1))[0]?.[0] ?? '0-0';
        const answer = await connection.xread('BLOCK', BLOCK_MS, 'STREAMS', stream, last);
        for (const [id, fields] of answer?.[0]?.[1] ?? []) {
          last = id;
          this.tell(fields);
        }
      } catch (error) {
        if (this.isClosing) return;
        this.journal.queueError('cancels', error);
        await pause(AFTER_TROUBLE_MS, undefined, { ref: false });
      }
    }
  }

  private tell([, record, , epoch, , job]: readonly string[]): void {
    for (const run of this.running.all()) {
      if (this.isMeant(run, record!, Number(epoch), job!)) run.stop(new OwnerCancelled(run.kind.graceMs));
    }
  }

  private isMeant({ jobId, envelope }: Run, record: string, epoch: number, job: string): boolean {
    const i = envelope.o.findIndex((owner) => this.keys.ownerText(owner) === record);
    if (i === -1) return false;
    return job === '' ? Number(envelope.e[i]) < epoch : job === jobId;
  }
}

function duplicateOf(redis: Redis | Cluster): Redis | Cluster {
  return redis.isCluster ? (redis as Cluster).duplicate() : (redis as Redis).duplicate();
}
