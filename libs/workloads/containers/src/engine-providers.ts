import { Logger, type Provider } from '@nestjs/common';
import type { EngineSettings } from './containers-env.js';
import { ContainerEngine } from './engines/container-engine.js';
import { openEngine } from './engines/open-engine.js';
import { FleetSecret } from './fleet-signature.js';

const NO_ENGINE =
  'DOCKER_HOST is not set: each leased container is a plain process of this machine, with no walls around it. That is for trying it.';

/** The container engine and the secret of the fleet's signature. */
export function engineProviders(env: EngineSettings): Provider[] {
  const { DOCKER_HOST: dockerHost, LEASE_FOLDER: folder } = env;
  const caps = { memoryMb: env.LEASE_MEMORY_MB, cpus: env.LEASE_CPUS, pids: env.LEASE_PIDS };
  const open = (): ContainerEngine => {
    if (!dockerHost) new Logger('Leases').log(NO_ENGINE);
    return openEngine({ dockerHost, folder, ...caps });
  };
  return [
    { provide: FleetSecret, useValue: { given: env.LEASE_SECRET } },
    { provide: ContainerEngine, useFactory: open },
  ];
}
