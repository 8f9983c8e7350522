import {
  Injectable,
  Logger,
  Module,
  type DynamicModule,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import type { ContainersEnv } from './containers.env.js';
import { ContainersSettings } from './containers-settings.js';
import { ContainerEngine } from './engines/container-engine.js';
import { openEngine } from './engines/open-engine.js';

/** Logs the engine once at start, and closes it last. */
@Injectable()
class EngineLife implements OnModuleInit, OnApplicationShutdown {
  constructor(private readonly engine: ContainerEngine) {}

  onModuleInit(): void {
    if (this.engine.name === 'process')
      new Logger('Leases').log(
        'DOCKER_HOST is not set: each leased container is a plain process of this machine, with no walls around it. That is for trying it.',
      );
  }

  async onApplicationShutdown(): Promise<void> {
    await this.engine.close();
  }
}

/** The container engine and the fleet's signature. */
@Module({})
export class EnginesModule {
  static with(env: ContainersEnv): DynamicModule {
    const settings: ContainersSettings = { secret: env.LEASE_SECRET };
    return {
      module: EnginesModule,
      providers: [
        EngineLife,
        { provide: ContainersSettings, useValue: settings },
        {
          provide: ContainerEngine,
          useFactory: () =>
            openEngine({
              ...(env.DOCKER_HOST !== undefined && { dockerHost: env.DOCKER_HOST }),
              folder: env.LEASE_FOLDER,
              memoryMb: env.LEASE_MEMORY_MB,
              cpus: env.LEASE_CPUS,
              pids: env.LEASE_PIDS,
            }),
        },
      ],
      exports: [ContainerEngine, ContainersSettings],
    };
  }
}
