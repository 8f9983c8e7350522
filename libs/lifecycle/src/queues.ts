import { Injectable } from '@nestjs/common';
import type { Queue } from 'bullmq';

/** BullMQ's queues by name, as `forKinds` registered them. */
@Injectable()
export class Queues {
  private readonly queues = new Map<string, Queue>();

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
}

/** BullMQ's key prefix: a hash tag, so that flows and moves between queues stay inside one Cluster slot. */
export function queuePrefix(prefix: string): string {
  return `{${prefix}}`;
}
