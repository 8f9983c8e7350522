export { FleetEnv, fleetParts, listenersOf } from './fleet-parts.js';
export { logFact } from './log-fact.js';
export { JanitorTasks, janitorTasks, workloadVariables } from './fleet-workloads.js';
