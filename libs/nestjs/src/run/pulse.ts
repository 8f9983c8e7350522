import { Inject, Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Kind } from '../kinds/kind.js';
import { MOORING_OPTIONS, type MooringOptions } from '../options.js';
import type { RegisteredWorker } from '../queues/registered-worker.js';
import { Heartbeats, type WorkerBeat } from './heartbeats.js';
import { RunningJobs } from './running-jobs.js';

const EVERY_MS = 10_000;
const STOPS_WITHIN_MS = 100;
const MOST_RUNS_SHOWN = 100;

/** Tells every ten seconds that this process takes jobs, and what it runs: one write, whatever it runs. It keeps no process alive. */
@Injectable()
export class Pulse {
  private readonly id = randomUUID();
  private readonly startedAt = Date.now();
  private queues: WorkerBeat['queues'] = [];
  private state: WorkerBeat['state'] = 'running';
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(MOORING_OPTIONS) private readonly options: MooringOptions,
    private readonly heartbeats: Heartbeats,
    private readonly running: RunningJobs,
  ) {}

  start(workers: readonly RegisteredWorker[], kinds: readonly Kind[]): void {
    this.queues = workers.map(({ name, concurrency }) => ({
      queue: name,
      concurrency,
      kinds: kinds.filter(({ queue }) => queue === name).map((kind) => kind.name),
    }));
    this.timer = setInterval(() => this.beat(), EVERY_MS).unref();
    this.beat();
  }

  drain(): void {
    this.state = 'draining';
    this.beat();
  }

  /** A store that is away does not hold up the shutdown: the heartbeat expires. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    const removed = this.heartbeats.remove(this.id).catch(() => undefined);
    await Promise.race([removed, pause(STOPS_WITHIN_MS, undefined, { ref: false })]);
  }

  /** A heartbeat that fails is followed by another one. */
  private beat(): void {
    this.heartbeats.write(this.describe()).catch(() => undefined);
  }

  private describe(): WorkerBeat {
    const runs = this.running.all();
    return {
      id: this.id,
      host: hostname(),
      pid: process.pid,
      version: this.options.worker?.version ?? null,
      state: this.state,
      startedAt: this.startedAt,
      at: Date.now(),
      queues: this.queues,
      running: runs.length,
      runs: runs.slice(0, MOST_RUNS_SHOWN).map(({ jobId, kind, queue, owner, attempt, since }) => {
        return { jobId, kind, queue, owner, attempt, since };
      }),
    };
  }
}
