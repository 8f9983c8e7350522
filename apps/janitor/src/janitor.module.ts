import { EventConsumer, EventMapping, EventsModule, InboundEventStream } from '#events';
import { fleetParts, JanitorTasks, janitorTasks, listenersOf, logFact } from '#fleet';
import { ConfiguredResolvers } from '#resolvers';
import { Runtime } from '#runtime';
import { Module, type DynamicModule } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { PeriodicTasks } from './periodic-tasks.js';
import { FleetGauges } from './fleet-gauges.js';
import { JANITOR_ENV, type JanitorEnv } from './janitor-env.js';
import { Schedule } from './schedule.js';
import { SweepMetrics } from './sweep-metrics.js';

/** The janitor: runs periodic tasks and sweeps. */
@Module({})
export class JanitorModule {
  static async with(runtime: Runtime, env: JanitorEnv): Promise<DynamicModule> {
    const { imports = [], providers = [] } = await JanitorModule.forOneSweep(runtime, env);
    return {
      module: JanitorModule,
      imports: [
        ...imports,
        ScheduleModule.forRoot(),
        ...(env.EVENT_MAP ? [JanitorModule.events(runtime, env.MOORING_PREFIX, env.EVENT_MAP)] : []),
      ],
      providers: [
        ...providers,
        { provide: JANITOR_ENV, useValue: env },
        { provide: JanitorTasks, useValue: janitorTasks(env) },
        PeriodicTasks,
        // Without a map, every event would count as unmapped and be removed from the stream.
        ...(env.EVENT_MAP ? [EventConsumer, InboundEventStream] : []),
        FleetGauges,
        Schedule,
      ],
    };
  }

  private static events(runtime: Runtime, prefix: string, mapping: EventMapping): DynamicModule {
    return EventsModule.forRootAsync({
      useFactory: () => ({
        mapping,
        stream: { redis: runtime.redis, prefix },
        listeners: listenersOf(runtime),
      }),
    });
  }

  /** Providers for a single sweep, without periodic tasks. */
  static async forOneSweep(runtime: Runtime, env: JanitorEnv): Promise<DynamicModule> {
    const resolvers = new ConfiguredResolvers(env.OWNER_RESOLVERS, (fact) => logFact(runtime.log, fact));
    const sweeps = new SweepMetrics(runtime);
    const options = {
      // The schedule of the janitor begins sweeps, and shows in its metrics when each was done.
      timers: false,
      ownerGrace: env.OWNER_GRACE,
      maxRatio: env.SWEEP_MAX_RATIO,
      artifactGrace: env.ARTIFACT_GRACE,
      stall: env.SWEEP_STALL,
      lock: env.SWEEP_LOCK,
    };
    const { imports, providers } = await fleetParts('janitor', runtime, env, {
      mooring: { resolvers: resolvers.byType, sweeps: options },
      listener: sweeps.record,
    });
    return {
      module: JanitorModule,
      imports,
      providers: [
        ...providers,
        { provide: Runtime, useValue: runtime },
        // As a provider it receives the shutdown hooks of Nest.
        { provide: ConfiguredResolvers, useValue: resolvers },
        { provide: SweepMetrics, useValue: sweeps },
      ],
    };
  }
}
