import { createRedisBackend, type BackendFactory } from 'bullmq';
import { composedScripts, defineScripts } from '../scripts/composed-scripts.js';
import { askAgain } from './first-contact.js';
import { MooredBackend } from './moored-backend.js';
import { checkPartitionsFirst, refusePartitions, type PartOptions } from './partition-check.js';

export const createMooredBackend: BackendFactory<MooredBackend> = (name, opts, options) => {
  // What cannot be right is refused where the queue is made, before a connection is opened.
  composedScripts();
  refusePartitions(opts as { partitions?: number });
  const plain = createRedisBackend(name, opts, options);
  // It has no users of its own: its connections are handed on, and the moored backend forwards their errors.
  plain.on('error', () => undefined);
  const { connection } = plain;
  const connect = askAgain(connection, defineScripts);
  checkPartitionsFirst(connection, connect, opts as PartOptions, name);
  const backend = new MooredBackend(
    connection,
    name,
    plain.keys,
    (type) => plain.toKey(type),
    opts,
    plain.blockingConnection,
  );
  // An error that comes after its users have closed it is no error of the process.
  return backend.on('error', () => undefined);
};
