import type { RedisQueueBackend } from 'bullmq';

/** BullMQ's view of a connection: ioredis, node-redis and others behind one interface. */
export type RedisClient = Awaited<RedisQueueBackend['client']>;

export type Argument = string | number | Buffer;
