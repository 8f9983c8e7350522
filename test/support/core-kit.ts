import { Queue, type Job, type Processor } from 'bullmq';
import { Redis } from 'ioredis';
import { expect, inject } from 'vitest';
import {
  MooredFlowProducer,
  MooredQueue,
  MooredWorker,
  Owners,
  Slots,
  type MooredFlowOptions,
  type MooredQueueOptions,
  type MooredWorkerOptions,
  type OwnersOptions,
} from '#core';
import { sendCancelOnly } from './core-cancel.js';
import { inOneSlot } from './in-one-slot.js';
import { until } from './until.js';

let prefixes = 0;

interface Closable {
  close(): Promise<unknown>;
}

const CORE = { MooredFlowProducer, MooredQueue, MooredWorker, Owners, Slots };

/** Queues, workers and owners under a prefix of their own. `stop` checks that nothing of the owners is left. */
export class CoreKit {
  readonly prefix = inOneSlot(`test-core-${process.pid}-${(prefixes += 1)}`);
  readonly redis: Redis;
  readonly owners: Owners;
  /** The errors of workers; a test that expects some removes them. */
  readonly errors: Error[] = [];
  private readonly open: Closable[] = [];

  constructor(
    url: string = inject('storeUrl'),
    private readonly options: Partial<OwnersOptions> = {},
  ) {
    this.redis = new Redis(url, { maxRetriesPerRequest: null });
    this.owners = this.keep(new this.classes.Owners({ ...this.options, ...this.place }));
  }

  /** Overridden in the kit of the @mooring/partitions tests. */
  protected get classes(): typeof CORE {
    return CORE;
  }

  get place(): { connection: Redis; prefix: string } {
    return { connection: this.redis, prefix: this.prefix };
  }

  /** The prefixes of the keys: one for each partition. */
  get roots(): string[] {
    return [this.prefix];
  }

  queue(name = 'audio', options: Partial<MooredQueueOptions> = {}): MooredQueue {
    return this.keep(new this.classes.MooredQueue(name, { ...options, ...this.place }));
  }

  /** BullMQ's own queue on the same keys, as in a program without owners. */
  plainQueue(name = 'audio'): Queue {
    return this.keep(new Queue(name, this.place));
  }

  slots(): Slots {
    return this.keep(new this.classes.Slots(this.place));
  }

  flows(options: Partial<MooredFlowOptions> = {}): MooredFlowProducer {
    return this.keep(new this.classes.MooredFlowProducer({ ...options, ...this.place }));
  }

  worker(
    processor: Processor | null,
    options: Partial<MooredWorkerOptions> & { queue?: string } = {},
  ): MooredWorker {
    const { queue = 'audio', ...rest } = options;
    const worker = new this.classes.MooredWorker(queue, processor, {
      concurrency: 5,
      ...rest,
      ...this.place,
    });
    worker.on('error', (error) => this.errors.push(error));
    return this.keep(worker);
  }

  /** Sends the first command of a cancel and nothing of its clean-up. */
  async cancelAndDie(owner: string, cancelId?: string): Promise<void> {
    await this.owners.openReceipts();
    await sendCancelOnly(this.redis, this.prefix, owner, cancelId);
  }

  /** Another process would have these. */
  anotherOwners(options: Partial<OwnersOptions> = {}): Owners {
    return this.keep(new this.classes.Owners({ ...this.options, ...options, ...this.place }));
  }

  /** The keys of the owners, without receipts and history, which stay for a time. */
  async ownerKeys(): Promise<string[]> {
    const keys = await Promise.all(
      this.roots.map(async (root) =>
        (await this.redis.keys(`${root}~*`)).map((key) => key.slice(root.length)),
      ),
    );
    return keys
      .flat()
      .filter(
        (key) =>
          !/^~(receipt|history|gone|remembers-jobs$|told|cancelled|limit|rate|bucket|slots$|empty|closed|idle|barrier|turn|sweeps~|partitions$|workers?)/.test(
            key,
          ),
      )
      .toSorted();
  }

  async nothingLeft(): Promise<void> {
    await until(async () => (await this.ownerKeys()).length === 0, 'no owner has a record', 5_000).catch(
      () => undefined,
    );
    expect(await this.ownerKeys()).toEqual([]);
  }

  async stop(): Promise<void> {
    for (const closable of this.open.toReversed()) await closable.close();
    const keys = (await this.redis.keys(`*${this.prefix}*`)).filter((key) =>
      [this.prefix, ...this.roots].some((root) => key.startsWith(`${root}:`) || key.startsWith(`${root}~`)),
    );
    if (keys.length > 0) await this.redis.del(keys);
    this.redis.disconnect();
    expect(this.errors).toEqual([]);
  }

  private keep<T extends Closable>(closable: T): T {
    this.open.push(closable);
    return closable;
  }
}

/** A processor whose runs continue until they are told to stop. */
export function untilStopped(_job: Job, _token?: string, signal?: AbortSignal): Promise<void> {
  return new Promise((_, reject) => signal!.addEventListener('abort', () => reject(new Error('stopped'))));
}

export { until };
