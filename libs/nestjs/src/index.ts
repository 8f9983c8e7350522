export { MooringModule } from './mooring.module.js';
export type { ForQueueOptions, MooringAsyncOptions, MooringOptions, SweepOptions } from './options.js';
export { MooringSetupError } from './setup-error.js';
