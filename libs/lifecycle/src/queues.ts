import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Queue } from 'bullmq';
import { Journal } from './journal.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from './options.js';

/** BullMQ's queues by name: as `forKinds` registered them, or opened for a job of a kind that is not known here. */
@Injectable()
export class Queues implements OnApplicationShutdown {
  private readonly queues = new Map<string, Queue>();
  private readonly opened = new Map<string, Queue>();

  constructor(
    private readonly options: LifecycleOptions,
    private readonly journal: Journal,
  ) {}

  add(queue: Queue): void {
    // Several `forKinds` may name one queue; any of its objects will do.
    if (!this.queues.has(queue.name)) this.queues.set(queue.name, queue);
  }

  get(name: string): Queue {
    const queue = this.queues.get(name);
    if (!queue) throw new TypeError(`No kind of queue "${name}" is registered in this process.`);
    return queue;
  }

  has(name: string): boolean {
    return this.queues.has(name);
  }

  all(): Queue[] {
    return [...this.queues.values()];
  }

  /** To look at one job of it, or remove it: whoever does that need not know the job's kind. */
  open(name: string): Queue {
    let queue = this.queues.get(name) ?? this.opened.get(name);
    if (!queue) {
      const { redis, prefix = LIFECYCLE_DEFAULTS.prefix } = this.options;
      queue = new Queue(name, { connection: redis, prefix: queuePrefix(prefix) });
      queue.on('error', (error) => this.journal.queueError(name, error));
      this.opened.set(name, queue);
    }
    return queue;
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.opened.values()].map((queue) => queue.close()));
  }
}

/** BullMQ's key prefix: a hash tag, so that flows and moves between queues stay inside one Cluster slot. */
export function queuePrefix(prefix: string): string {
  return `{${prefix}}`;
}
