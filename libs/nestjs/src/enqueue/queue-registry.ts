import { MooredQueue, type MooredQueueOptions } from '#core';
import { getQueueToken } from '@nestjs/bullmq';
import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { DiscoveryService } from '@nestjs/core';

/** The queues of the kinds: one `MooredQueue` a name, made when it is first asked for. */
export class QueueRegistry implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('mooring');
  private readonly queues = new Map<string, MooredQueue>();

  constructor(
    private readonly options: MooredQueueOptions,
    private readonly discovery: DiscoveryService,
  ) {}

  get(name: string): MooredQueue {
    let queue = this.queues.get(name);
    if (!queue) {
      queue = new MooredQueue(name, this.options);
      queue.on('error', (error) => this.logger.error(`Queue ${name}: ${error.message}`));
      this.queues.set(name, queue);
    }
    return queue;
  }

  /** A processor would find one of the two queues by chance, and work on its prefix. */
  onModuleInit(): void {
    for (const [name, queue] of this.queues) {
      const others = this.discovery
        .getProviders()
        .filter((provider) => provider.token === getQueueToken(name) && provider.instance !== queue);
      if (others.length > 0)
        throw new Error(
          `The queue "${name}" is registered twice: by BullModule.registerQueue and by the kinds of MooringModule.forKinds. ` +
            'Leave one of them out: @InjectQueue resolves without registerQueue.',
        );
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.queues.values()].map((queue) => queue.close()));
  }
}
