export { ContainersApiModule } from './containers-api.module.js';
export type { LeaseLimits } from './containers-settings.js';
