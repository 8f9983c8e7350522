export { KindOutbox, type KindTicket, type OutboxEnqueueOptions, type OutboxItem } from './kind-outbox.js';
export type { OutboxModuleAsyncOptions, OutboxModuleOptions } from './options.js';
export { OutboxModule } from './outbox.module.js';
