export * as fields from './config/fields.js';
export { loadConfig } from './config/load-config.js';
export {
  ALWAYS,
  checkStoreVariables,
  describeAddress,
  storeAddress,
  type StoreAddress,
} from './config/store-config.js';
export { HealthBook, type Health } from './health/health.js';
export { HealthServer } from './health/health-server.js';
export { logContext } from './log/log-context.js';
export { createLog, type Log } from './log/log.js';
export { NestLog } from './log/nest-log.js';
export { Metrics, type CountedFact } from './metrics/metrics.js';
export { readSettings, refuse, runApp, Runtime, type AppDefinition } from './process/run-app.js';
export { Shutdown } from './shutdown/shutdown.js';
export { checkStore, UnfitStoreError } from './store/check.js';
export { RateLimits, type Rate } from './store/rates/rate-limits.js';
export { closeStore, connectStore, type StoreConnection } from './store/connect.js';
export { storeMemory, type StoreMemory } from './store/memory.js';
export {
  endLeftover,
  joinPrivateStore,
  runningPrivateStore,
  startPrivateStore,
  type PrivateStore,
} from './store/private/private-store.js';
export { startEmbedded } from './store/embedded/embedded-store.js';
export { findServer } from './store/private/find-server.js';
export { isAlive } from './store/private/is-alive.js';
export type { StoreProcess } from './store/store-process.js';
