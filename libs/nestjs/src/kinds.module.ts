import type { MooredQueueOptions } from '#core';
import { BullModule, getQueueToken } from '@nestjs/bullmq';
import { Module, type DynamicModule, type InjectionToken, type Provider } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { Enqueuer } from './enqueue/enqueuer.js';
import { QueueRegistry } from './enqueue/queue-registry.js';
import { KindRegistry } from './kinds/kind-registry.js';
import type { Kind } from './kinds/kind.js';
import { HandlerDiscovery } from './run/handler-discovery.js';
import { HandlerRegistry } from './run/handler-registry.js';
import { KindRunner } from './run/kind-runner.js';

/** Kinds, their queues and their handlers. `MooringModule` imports it. */
@Module({})
export class KindsModule {
  static forRoot(
    useFactory: (...given: never[]) => MooredQueueOptions,
    inject: InjectionToken[],
  ): DynamicModule {
    const queues: Provider = {
      provide: QueueRegistry,
      inject: [DiscoveryService, ...inject],
      useFactory: (discovery: DiscoveryService, ...given: never[]) =>
        new QueueRegistry(useFactory(...given), discovery),
    };
    return {
      module: KindsModule,
      global: true,
      imports: [DiscoveryModule],
      providers: [KindRegistry, queues, Enqueuer, HandlerRegistry, HandlerDiscovery, KindRunner],
      exports: [KindRegistry, QueueRegistry, Enqueuer, KindRunner],
    };
  }

  /** The kinds become known, and the tokens of their queues resolve: `@InjectQueue('media')`. */
  static forKinds(kinds: readonly Kind[]): DynamicModule {
    const queues = [...new Set(kinds.map(({ queue }) => queue))].map((name) => ({
      provide: getQueueToken(name),
      useFactory: (registry: QueueRegistry) => registry.get(name),
      inject: [QueueRegistry],
    }));
    const known = {
      provide: Symbol('mooring:kinds'),
      useFactory: (registry: KindRegistry) => registry.add(kinds),
      inject: [KindRegistry],
    };
    // Without a queue of its own it registers none, and brings what finds the processors.
    return {
      module: KindsModule,
      imports: [BullModule.registerQueue()],
      providers: [known, ...queues],
      exports: queues,
    };
  }
}
