import { Cluster, Redis, type Command } from 'ioredis';
import { describeAddress, type StoreAddress, type StoreLogin } from '../config/store-config.js';
import type { Log } from '../log/log.js';
import { within } from '../time/within.js';
import { MasterWatch, watchedConnector } from './master-watch.js';

export type StoreConnection = Redis | Cluster;

const MAX_RETRY_MS = 1_000;
const CLOSE_MS = 1_000;

const OPTIONS = {
  // BullMQ's workers need this.
  maxRetriesPerRequest: null,
  retryStrategy: retryInMs,
  connectTimeout: 5_000,
  // Our scripts and BullMQ's adds are safe when sent twice, so an unanswered one is simply sent again.
  autoResendUnfulfilledCommands: true,
} as const;

/** How long a process that answers callers waits for the store. Without a connection it does not wait. */
const FOR_CALLERS = { commandTimeout: 1_200, enableOfflineQueue: false };

type Options = typeof OPTIONS & Partial<typeof FOR_CALLERS>;

/**
 * Opens the connection to the store. It keeps itself up; the log says when it is lost and when it is back.
 *
 * @param hasCallers whether commands fail soon while the store is away, rather than wait for it
 */
export function connectStore(address: StoreAddress, log: Log, hasCallers = false): StoreConnection {
  const redis = open(address, hasCallers ? { ...OPTIONS, ...FOR_CALLERS } : OPTIONS);
  const name = describeAddress(address);
  const said = new Set<string>();
  if (hasCallers) readBeforeTimeouts(redis);
  redis.on('error', (error: Error) => {
    const why = reasonOf(error);
    // A store that is away fails many times a second in the same few ways; each is said once.
    if (!said.has(why))
      log.warn({ event: 'store.unreachable', store: name, why }, `No store at ${name}: ${why}`);
    said.add(why);
  });
  redis.on('ready', () => {
    if (said.size > 0) log.info({ event: 'store.back', store: name }, `The store at ${name} is back`);
    said.clear();
  });
  return redis;
}

const TIMED_OUT = 'Command timed out';

interface Sender {
  sendCommand: (command: Command, ...more: unknown[]) => unknown;
}

/**
 * Lets a command whose time is over have the answer that has arrived. A process that did not run for as long, because it was busy or the
 * machine was, comes to its timers before it reads from its connections: without this it would refuse what the store has long answered.
 */
export function readBeforeTimeouts(redis: StoreConnection): void {
  const sender = redis as unknown as Sender;
  const send = sender.sendCommand.bind(redis);
  sender.sendCommand = (command, ...more) => {
    const reject = command.reject;
    command.reject = (error) => {
      if (error.message !== TIMED_OUT) return reject(error);
      // What has arrived is read between the timers and this.
      setImmediate(() => {
        if (!command.isSettled) reject(error);
      });
    };
    return send(command, ...more);
  };
}

/** Why the store cannot be reached. */
export function reasonOf(error: Error): string {
  const { code, lastNodeError } = error as NodeJS.ErrnoException & { lastNodeError?: Error | null };
  // Of a Cluster the client says only that no node answered well; what the last one said is what helps.
  if (lastNodeError) return reasonOf(lastNodeError);
  return error.message || (code ?? 'unknown trouble');
}

function open(address: StoreAddress, options: Options): StoreConnection {
  switch (address.via) {
    case 'url':
      return new Redis(address.url, options);
    case 'sentinel':
      return openBySentinel(address, options);
    case 'cluster':
      return new Cluster(address.nodes, {
        redisOptions: { ...options, ...loginOptions(address.login) },
        enableOfflineQueue: options.enableOfflineQueue ?? true,
        clusterRetryStrategy: retryInMs,
        // With it, a connect() that meets a Cluster in trouble never settles, even when the trouble is over; BullMQ's
        // worker would wait for it for ever and take no job again. Readiness asks for the state instead.
        enableReadyCheck: false,
      });
  }
}

function openBySentinel(
  { sentinels, master, login }: StoreAddress & { via: 'sentinel' },
  options: Options,
): Redis {
  const watch = new MasterWatch(sentinels, master, login.isEncrypted === true);
  const redis = new Redis({
    ...options,
    ...loginOptions(login),
    ...(login.isEncrypted && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
    sentinels,
    name: master,
    Connector: watchedConnector(watch),
    // Constant: the client's error names it, and an error is said once as long as it reads the same.
    sentinelRetryStrategy: () => MAX_RETRY_MS,
  });
  redis.once('end', () => watch.close());
  return redis;
}

function loginOptions({
  isEncrypted,
  ...login
}: StoreLogin): Omit<StoreLogin, 'isEncrypted'> & { tls?: object } {
  return { ...login, ...(isEncrypted && { tls: {} }) };
}

// With some chance in it, so that a fleet does not come back all at once.
function retryInMs(times: number): number {
  const ceiling = Math.min(MAX_RETRY_MS, 50 * 2 ** Math.min(times, 10));
  return Math.round(ceiling * (0.5 + Math.random() / 2));
}

/** Ends the connection: politely when the store answers, at once when it does not. */
export async function closeStore(redis: StoreConnection): Promise<void> {
  // A connection that breaks while it is being closed is closed.
  if (redis.status === 'ready') await within(CLOSE_MS, redis.quit()).catch(() => undefined);
  redis.disconnect();
}
