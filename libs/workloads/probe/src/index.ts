export { probe } from './probe.kinds.js';
export { ProbeApiModule, ProbeWorkerModule } from './probe.modules.js';
