export { ContainersEnv } from './containers.env.js';
export { ContainersJanitorModule, ContainersWorkerModule } from './containers.module.js';
export { ContainerEngine, type Container } from './engines/container-engine.js';
export { openEngine } from './engines/open-engine.js';
export { LIVE_STATES, type LeaseState } from './lease.js';
export { LeaseRepository } from './lease-repository.js';
export { LeaseReconciler } from './reaper/lease-reconciler.js';
