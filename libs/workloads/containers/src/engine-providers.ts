import {
  Injectable,
  Logger,
  type OnApplicationShutdown,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import type { EngineSettings } from './containers-env.js';
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

/** The container engine and the secret of the fleet's signature. */
export function engineProviders(env: EngineSettings): Provider[] {
  const settings: ContainersSettings = { secret: env.LEASE_SECRET };
  const { DOCKER_HOST: dockerHost, LEASE_FOLDER: folder } = env;
  const caps = { memoryMb: env.LEASE_MEMORY_MB, cpus: env.LEASE_CPUS, pids: env.LEASE_PIDS };
  return [
    EngineLife,
    { provide: ContainersSettings, useValue: settings },
    { provide: ContainerEngine, useFactory: () => openEngine({ dockerHost, folder, ...caps }) },
  ];
}
