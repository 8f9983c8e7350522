import type { MooredQueue } from '#core';
import { getQueueToken } from '@nestjs/bullmq';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Journal } from '../journal/journal.js';
import { MOORING_OPTIONS, type MooringOptions } from '../options.js';
import { RegisteredQueue } from '../queues/registered-queue.js';
import { MooringSetupError } from '../setup-error.js';

const DEFAULT_MAX_WAITING = 100_000;

/** The queues of the kinds: one `MooredQueue` a name, made when it is first asked for. */
@Injectable()
export class QueueRegistry implements OnModuleInit, OnApplicationShutdown {
  private readonly queues = new Map<string, RegisteredQueue>();

  constructor(
    @Inject(MOORING_OPTIONS) private readonly options: MooringOptions,
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    private readonly journal: Journal,
  ) {}

  /** Only one that is known: for names that come from outside. */
  find(name: string): MooredQueue | undefined {
    return this.queues.get(name);
  }

  all(): MooredQueue[] {
    return [...this.queues.values()];
  }

  maxWaitingIn(name: string): number {
    const { maxWaiting = DEFAULT_MAX_WAITING, maxWaitingIn = {} } = this.options;
    return maxWaitingIn[name] ?? maxWaiting;
  }

  get(name: string): MooredQueue {
    let queue = this.queues.get(name);
    if (!queue) {
      const { connection, prefix, durability } = this.options;
      queue = new RegisteredQueue(name, {
        connection,
        ...(prefix !== undefined && { prefix }),
        ...(durability && { durability }),
      });
      // What `forQueue` says wins: it comes when the modules are initialized.
      queue.configure({ limits: { perQueue: this.maxWaitingIn(name) } });
      queue.on('error', (error) => this.journal.trouble(`Queue ${name}`, error));
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
        throw new MooringSetupError(
          `The queue "${name}" is registered twice: by BullModule.registerQueue and by the kinds of MooringModule.forKinds. ` +
            'Leave one of them out: @InjectQueue resolves without registerQueue.',
        );
    }
  }

  async onApplicationShutdown(): Promise<void> {
    // A connection that is being made rejects when it is closed.
    await Promise.allSettled([...this.queues.values()].map((queue) => queue.close()));
  }
}
