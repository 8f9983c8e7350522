import { setTimeout as pause } from 'node:timers/promises';
import { Cluster } from 'ioredis';
import { MooredQueue, MooredWorker, Owners } from '#partitions';
import type { RedisCluster } from './redis-cluster.js';
import { until } from './until.js';

const CALLERS = 8;
const PARTITIONS = 3;
const UNFINISHED = ['wait', 'active', 'delayed', 'prioritized', 'waiting-children'] as const;

interface Accepted {
  readonly id: string;
  readonly owner: string;
}

/** Producers, a worker and cancellers on the partitions of a Cluster, which record the answers. */
export class PartitionedLoad {
  readonly prefix = `load-${process.pid}`;
  readonly accepted: Accepted[] = [];
  /** When the cancel of each owner was answered, ms. */
  readonly cancelled = new Map<string, number>();
  /** When each job last began, ms. */
  readonly began = new Map<string, number>();
  readonly completed = new Set<string>();
  readonly failed: unknown[] = [];
  readonly queue: MooredQueue;
  readonly owners: Owners;
  private readonly worker: MooredWorker;
  private readonly connection: Cluster;
  private isOver = false;
  private readonly callers: Promise<unknown>;

  constructor(cluster: RedisCluster) {
    const nodes = cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port }));
    this.connection = new Cluster(nodes, { redisOptions: { maxRetriesPerRequest: null } });
    this.connection.on('error', () => undefined);
    const place = { connection: this.connection, prefix: this.prefix, partitions: PARTITIONS };
    this.queue = new MooredQueue('audio', place);
    this.owners = new Owners(place);
    this.worker = new MooredWorker('audio', (job) => this.run(job.id!), {
      ...place,
      concurrency: 10,
      lockDuration: 5_000,
      stalledInterval: 1_000,
    });
    this.queue.on('error', () => undefined);
    this.worker.on('error', () => undefined);
    this.worker.on('completed', (job) => this.completed.add(job.id!));
    this.callers = Promise.all(Array.from({ length: CALLERS }, (_, caller) => this.call(caller)));
  }

  /** The hash tags of the partitions. */
  get tags(): string[] {
    return Array.from({ length: PARTITIONS }, (_, at) => `{${this.prefix}~${at}}`);
  }

  async untilMoreDone(): Promise<void> {
    const [jobs, cancels, completed] = [this.accepted.length, this.cancelled.size, this.completed.size];
    await until(
      () =>
        this.accepted.length > jobs + 100 &&
        this.cancelled.size > cancels + 30 &&
        this.completed.size > completed + 50,
      'more is done',
    );
  }

  /** Stops all calls; every accepted job runs to its end. */
  async settle(): Promise<void> {
    this.isOver = true;
    await this.callers;
    await this.owners.resume();
    await until(
      async () => (await this.queue.getJobCountByTypes(...UNFINISHED)) === 0,
      'all jobs have ended',
    );
  }

  /** Accepted jobs that neither completed nor were cancelled. */
  lost(): Accepted[] {
    return this.accepted.filter(({ id, owner }) => !this.completed.has(id) && !this.cancelled.has(owner));
  }

  /** Jobs that began after the cancel of their owner was answered. */
  late(): Accepted[] {
    return this.accepted.filter(
      ({ id, owner }) => (this.began.get(id) ?? 0) > (this.cancelled.get(owner) ?? Infinity),
    );
  }

  /** The jobs that have not ended and those in the index of their owners, while there are no calls. */
  async bothSides(): Promise<{ jobs: string[]; index: string[] }> {
    const jobs = (await this.queue.getJobs([...UNFINISHED])).map((job) => `audio:${job.id}`);
    const index = new Set<string>();
    for (const node of this.connection.nodes('master')) {
      for (const key of await node.keys(`*${this.prefix}*~owner~*`)) {
        for (const field of await node.hkeys(key)) if (field.includes(':')) index.add(field);
      }
    }
    return { jobs: jobs.toSorted(), index: [...index].toSorted() };
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.callers;
    await Promise.all([this.worker.close(true), this.queue.close(), this.owners.close()]);
    this.connection.disconnect();
  }

  private async run(id: string): Promise<void> {
    this.began.set(id, Date.now());
    await pause(2);
  }

  /** Every third owner is cancelled as soon as it has its jobs. */
  private async call(caller: number): Promise<void> {
    for (let n = 0; !this.isOver; n += 1) {
      const owner = `trip:${caller}-${n}`;
      const isCancelled = n % 3 === 0;
      await this.ask(async () => {
        const opts = { owners: [owner, `user:${caller}`], ...(isCancelled && { delay: 500 }) };
        const { id } = await this.queue.enqueue('x', {}, opts);
        this.accepted.push({ id, owner });
        if (!isCancelled) return;
        await this.owners.cancel(owner, { cancelId: `c-${owner}` });
        this.cancelled.set(owner, Date.now());
      });
      await pause(10);
    }
  }

  private async ask(call: () => Promise<void>): Promise<void> {
    await call().catch((error: unknown) => this.failed.push(error));
  }
}
