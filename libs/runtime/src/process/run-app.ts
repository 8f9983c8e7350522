import type { INestApplicationContext } from '@nestjs/common';
import type { z } from 'zod';
import { ConfigError, loadConfig, suspectNames } from '../config/load-config.js';
import { describeAddress, storeAddress, type StoreAddress } from '../config/store-config.js';
import type { StoreEnv } from '../config/fields.js';
import { HealthBook } from '../health/health.js';
import { createLog, type Log, type LogSettings } from '../log/log.js';
import { Metrics } from '../metrics/metrics.js';
import { Shutdown } from '../shutdown/shutdown.js';
import { checkStore, UnfitStoreError } from '../store/check.js';
import { closeStore, connectStore, type StoreConnection } from '../store/connect.js';

/** What every process of the fleet has. */
export class Runtime {
  constructor(
    readonly app: string,
    readonly log: Log,
    readonly redis: StoreConnection,
    readonly health: HealthBook,
    readonly metrics: Metrics,
    readonly shutdown: Shutdown,
  ) {}
}

export interface AppDefinition<S extends z.ZodObject> {
  readonly name: string;
  readonly env: S;
  /** Puts the application together and starts it; answers where its health is served. */
  start(runtime: Runtime, env: z.output<S>): Promise<{ app: INestApplicationContext; url: string }>;
}

type CommonEnv = LogSettings & { SHUTDOWN_TIMEOUT: number } & {
  [K in keyof typeof StoreEnv]: z.output<(typeof StoreEnv)[K]>;
};

/** The life of one process: settings, log, store, application, signals. Ends with one clear line when it cannot start. */
export async function runApp<S extends z.ZodObject>(definition: AppDefinition<S>): Promise<void> {
  const settings = readSettings(definition);
  const env = settings as CommonEnv;
  const log = createLog(definition.name, env);
  for (const suspicion of suspectNames(definition.env, process.env))
    log.warn({ event: 'config.suspect' }, suspicion);

  const address = storeAddress(env) ?? refuse(NO_STORE);
  const health = new HealthBook();
  const shutdown = new Shutdown(log, health, env.SHUTDOWN_TIMEOUT);
  const redis = openStore(address, log, health, shutdown);
  process.on('uncaughtException', (error) => crash(log, error));
  process.on('unhandledRejection', (error) => crash(log, error));
  shutdown.listen();

  const runtime = new Runtime(definition.name, log, redis, health, new Metrics(definition.name), shutdown);
  await storeReady(redis);
  try {
    const { app, url } = await definition.start(runtime, settings);
    shutdown.add({ name: 'the application', run: () => app.close() });
    log.info({ event: 'app.started', url }, `${definition.name} is up at ${url}`);
    process.send?.({ type: 'started', url });
  } catch (error) {
    log.debug({ err: error }, 'Where the start failed');
    refuse(startFailure(definition.name, error));
  }
}

const STORE_WAIT_MS = 2_000;

const NO_STORE =
  'No store: set REDIS_URL (or REDIS_SENTINELS and REDIS_MASTER, or REDIS_CLUSTER), ' +
  'or start through npm, which brings a private one.';

function readSettings<S extends z.ZodObject>(definition: AppDefinition<S>): z.output<S> {
  try {
    return loadConfig(definition.env, process.env);
  } catch (error) {
    if (error instanceof ConfigError) return refuse(error.message);
    throw error;
  }
}

/** Connects, and looks at the store each time the connection is made: another one may answer than before. */
function openStore(address: StoreAddress, log: Log, health: HealthBook, shutdown: Shutdown): StoreConnection {
  const redis = connectStore(address, log);
  const name = describeAddress(address);
  let fit = false;
  redis.on('ready', () => {
    checkStore(redis).then(
      () => (fit = true),
      (error: unknown) => {
        if (error instanceof UnfitStoreError) refuse(`${name}: ${error.message}`);
        log.warn({ event: 'store.unchecked', err: error }, `Could not look at the store at ${name}`);
      },
    );
  });
  redis.on('error', (error: Error) => {
    if (!fit && /^(WRONGPASS|NOAUTH|NOPERM)/.test(error.message)) {
      refuse(`The store at ${name} refuses this user or password (${error.message}).`);
    }
  });
  health.add(async function store() {
    if (redis.status !== 'ready') return 'the store cannot be reached';
    await redis.ping();
    return fit ? undefined : 'the store was not looked at yet';
  });
  shutdown.add({ name: 'the connection to the store', run: () => closeStore(redis) });
  return redis;
}

/** Most starts find the store at once. One that does not goes on without it, and works when it comes. */
function storeReady(redis: StoreConnection): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, STORE_WAIT_MS);
    redis.once('ready', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function startFailure(app: string, error: unknown): string {
  const { code, message, port } = error as NodeJS.ErrnoException & { port?: number };
  if (code === 'EADDRINUSE')
    return `Port ${port} is taken by another program. Set ${app === 'api' ? 'PORT' : 'HEALTH_PORT'} to a free one.`;
  return message || String(error);
}

/** Ends the process with one clear line. */
export function refuse(line: string): never {
  process.stderr.write(`${line}\n`);
  process.exit(1);
}

function crash(log: Log, error: unknown): never {
  log.fatal({ event: 'app.crashed', err: error }, 'Ending: something happened that should never happen');
  process.exit(1);
}
