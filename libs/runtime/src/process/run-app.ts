import type { INestApplicationContext } from '@nestjs/common';
import type { z } from 'zod';
import type { StoreDurability } from '#durability';
import { ConfigError, loadConfig, suspectNames } from '../config/load-config.js';
import { storeAddress } from '../config/store-config.js';
import type { DurabilityEnv, StoreEnv } from '../config/fields.js';
import { HealthBook } from '../health/health.js';
import { createLog, standardError, standardOutput, type Log, type LogSettings } from '../log/log.js';
import { Metrics } from '../metrics/metrics.js';
import { Shutdown } from '../shutdown/shutdown.js';
import { ClockWatch } from '../store/clock-watch.js';
import { closeStore, type StoreConnection } from '../store/connect.js';
import { checkDurability, openDurability } from '../store/open-durability.js';
import { RollbackWatch } from '../store/rollback/rollback-watch.js';
import { MonitoredStore } from '../store/monitored-store.js';
import { within } from '../time/within.js';

/** Services that every process of the fleet has. */
export class Runtime {
  constructor(
    readonly app: string,
    readonly log: Log,
    readonly redis: StoreConnection,
    readonly health: HealthBook,
    readonly metrics: Metrics,
    readonly shutdown: Shutdown,
    /** Undefined with `DURABILITY=none`. */
    readonly durability: StoreDurability | undefined,
  ) {}
}

export interface AppDefinition<S extends z.ZodObject> {
  readonly name: string;
  readonly env: S;
  /** Standard output carries an answer, so the log goes to standard error. */
  readonly answers?: boolean;
  /** It answers callers: what it asks of the store fails soon while the store is away. */
  readonly hasCallers?: boolean;
  /** Starts the application. `url` is the address of its health endpoints. */
  start(runtime: Runtime, env: z.output<S>): Promise<{ app: INestApplicationContext; url: string }>;
}

type CommonEnv = LogSettings & { SHUTDOWN_TIMEOUT: number; SHUTDOWN_READY_DELAY?: number } & {
  [K in keyof typeof StoreEnv]: z.output<(typeof StoreEnv)[K]>;
} & { [K in keyof typeof DurabilityEnv]?: z.output<(typeof DurabilityEnv)[K]> };

/** Runs a process: settings, log, store, application, signals. Exits with one line on stderr if it cannot start. */
export async function runApp<S extends z.ZodObject>(definition: AppDefinition<S>): Promise<void> {
  const settings = readSettings(definition.env);
  const env = settings as CommonEnv;
  const log = createLog(definition.name, env, definition.answers ? standardError : standardOutput);
  surviveLostOutput();
  process.on('uncaughtException', (error) => crash(log, error));
  process.on('unhandledRejection', (error) => crash(log, error));
  for (const suspicion of suspectNames(definition.env, process.env))
    log.warn({ event: 'config.suspect' }, suspicion);

  const health = new HealthBook();
  const shutdown = new Shutdown(log, health, env.SHUTDOWN_TIMEOUT, env.SHUTDOWN_READY_DELAY);
  const address = storeAddress(env) ?? refuse(NO_STORE);
  let hasStarted = false;
  const refuseStore = (why: string): void => {
    if (!hasStarted) refuse(why);
    log.fatal({ event: 'store.unfit' }, why);
    void shutdown.begin('the store must not be used', 1);
  };
  const store = new MonitoredStore(address, env.MOORING_PREFIX, log, refuseStore, definition.hasCallers);
  health.add('the store', () => store.trouble());
  const metrics = new Metrics(definition.name);
  const clock = new ClockWatch(store.redis, log, metrics.registry);
  const rollbacks = new RollbackWatch(store.redis, env.MOORING_PREFIX, log, metrics.registry);
  void store.fit.then(() => Promise.all([clock.look(), rollbacks.look()]));
  const durability = openDurability(store.redis, env);
  const looked = store.fit.then(async () => {
    if (!durability) return;
    await checkDurability(durability, log, (why) => {
      if (!hasStarted) refuse(why);
      log.error({ event: 'store.not-durable' }, why);
    });
  });
  shutdown.add({
    name: 'the connection to the store',
    run: () => {
      clock.close();
      rollbacks.close();
      durability?.close();
      return closeStore(store.redis);
    },
  });
  shutdown.listen();

  const runtime = new Runtime(definition.name, log, store.redis, health, metrics, shutdown, durability);
  await within(STORE_WAIT_MS, looked);
  const starting = definition.start(runtime, settings);
  // Registered before the start completes, so that a shutdown during the start closes the application before its connection.
  shutdown.add({ name: 'the application', run: async () => (await starting).app.close() });
  try {
    const { url } = await starting;
    hasStarted = true;
    if (url) log.info({ event: 'app.started', url }, `${definition.name} is up at ${url}`);
    if (process.connected) process.send?.({ type: 'started', url });
  } catch (error) {
    log.debug({ err: error }, 'Stack of the failed start');
    refuse(startFailure(definition.name, error));
  }
}

/** How long the start waits for the store. After that the process starts without it and works once it is available. */
const STORE_WAIT_MS = 2_000;

const NO_STORE =
  'No store: set REDIS_URL (or REDIS_SENTINELS and REDIS_MASTER, or REDIS_CLUSTER), ' +
  'or start through npm, which brings a private one.';

/** The settings of this process. Exits with one line on stderr for each problem. */
export function readSettings<S extends z.ZodObject>(schema: S): z.output<S> {
  try {
    return loadConfig(schema, process.env);
  } catch (error) {
    if (error instanceof ConfigError) return refuse(error.message);
    throw error;
  }
}

function startFailure(app: string, error: unknown): string {
  const { code, message, port } = error as NodeJS.ErrnoException & { port?: number };
  const setting = app === 'api' ? 'PORT' : 'HEALTH_PORT';
  if (code === 'EADDRINUSE') return `Port ${port} is taken by another program. Set ${setting} to a free one.`;
  return message || String(error);
}

/** Exits the process with one line on stderr. */
export function refuse(line: string): never {
  process.stderr.write(`${line}\n`);
  process.exit(1);
}

/** A reader of our output may exit first, which must not end this process. */
function surviveLostOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

let isCrashing = false;

function crash(log: Log, error: unknown): void {
  // A failed write of the log also ends up here and must not prevent an orderly shutdown.
  if (isCrashing || (error as NodeJS.ErrnoException | undefined)?.code === 'EPIPE') return;
  isCrashing = true;
  try {
    log.fatal({ event: 'app.crashed', err: error }, 'Exiting after an uncaught error');
  } finally {
    process.exit(1);
  }
}
