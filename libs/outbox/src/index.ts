export { Outbox, type OutboxJob, type OutboxTicket } from './outbox.js';
export { OutboxRelay, type RelayOptions } from './outbox-relay.js';
export { OutboxRows, type OutboxEntry } from './outbox-rows.js';
export type { CancelTicket } from './outbox-writer.js';
export { QueuesTarget } from './queues-target.js';
export type { ClaimedRow, OutboxCancelOptions, OutboxJobOptions, OutboxTarget, Queryable } from './row.js';
export { migrate, migrationSql, type MigrateOptions, type SchemaOptions } from './schema.js';
