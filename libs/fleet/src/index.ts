export { FleetEnv, fleetParts, listenersOf } from './fleet-parts.js';
export { JanitorTasks, janitorTasks, workloadVariables } from './fleet-workloads.js';
