export {
  JanitorTasks,
  janitorTasks,
  workloadLimits,
  workloadModules,
  workloadVariables,
} from './fleet-workloads.js';
