import { Injectable, Logger, type OnModuleInit, type Provider } from '@nestjs/common';
import type { EngineSettings } from './containers-env.js';
import { ContainersSettings } from './containers-settings.js';
import { ContainerEngine } from './engines/container-engine.js';
import { openEngine } from './engines/open-engine.js';

/** Says at start what the process runtime is for. */
@Injectable()
class EngineNotice implements OnModuleInit {
  constructor(private readonly engine: ContainerEngine) {}

  onModuleInit(): void {
    if (this.engine.name === 'process')
      new Logger('Leases').log(
        'DOCKER_HOST is not set: each leased container is a plain process of this machine, with no walls around it. That is for trying it.',
      );
  }
}

/** The container engine and the secret of the fleet's signature. */
export function engineProviders(env: EngineSettings): Provider[] {
  const settings: ContainersSettings = { secret: env.LEASE_SECRET };
  const { DOCKER_HOST: dockerHost, LEASE_FOLDER: folder } = env;
  const caps = { memoryMb: env.LEASE_MEMORY_MB, cpus: env.LEASE_CPUS, pids: env.LEASE_PIDS };
  return [
    EngineNotice,
    { provide: ContainersSettings, useValue: settings },
    { provide: ContainerEngine, useFactory: () => openEngine({ dockerHost, folder, ...caps }) },
  ];
}
