import { MooredQueue } from '#core';
import { getQueueToken } from '@nestjs/bullmq';
import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { queueOfJobId } from '../kinds/job-ids.js';

/** The queues of this application: those of its kinds, and those that it has registered itself. */
@Injectable()
export class KnownQueues {
  private queues: ReadonlyMap<string, MooredQueue> | undefined;

  constructor(@Inject(DiscoveryService) private readonly discovery: DiscoveryService) {}

  find(name: string): MooredQueue | undefined {
    return this.all().get(name);
  }

  ofJob(id: string): MooredQueue | undefined {
    return this.find(queueOfJobId(id) ?? '');
  }

  /** By name. The modules of an application are complete before its first caller is answered. */
  all(): ReadonlyMap<string, MooredQueue> {
    if (this.queues) return this.queues;
    const queues = this.discovery
      .getProviders()
      .filter(
        ({ instance, token }) => instance instanceof MooredQueue && token === getQueueToken(instance.name),
      )
      .map(({ instance }) => instance as MooredQueue);
    return (this.queues = new Map(queues.map((queue) => [queue.name, queue])));
  }
}
