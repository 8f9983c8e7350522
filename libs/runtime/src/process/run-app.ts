import type { INestApplicationContext } from '@nestjs/common';
import type { z } from 'zod';
import { ConfigError, loadConfig, suspectNames } from '../config/load-config.js';
import { storeAddress } from '../config/store-config.js';
import type { DurabilityEnv, StoreEnv } from '../config/fields.js';
import { HealthBook } from '../health/health.js';
import { createLog, standardError, standardOutput, type Log, type LogSettings } from '../log/log.js';
import { Metrics } from '../metrics/metrics.js';
import { Shutdown } from '../shutdown/shutdown.js';
import { ClockWatch } from '../store/clock-watch.js';
import { closeStore, type StoreConnection } from '../store/connect.js';
import { checkDurability, openDurability } from '../store/durability/open-durability.js';
import type { StoreDurability } from '../store/durability/store-durability.js';
import { RollbackWatch } from '../store/rollback/rollback-watch.js';
import { WatchedStore } from '../store/monitored-store.js';
import { within } from '../time/within.js';

/** What every process of the fleet has. */
export class Runtime {
  constructor(
    readonly app: string,
    readonly log: Log,
    readonly redis: StoreConnection,
    readonly health: HealthBook,
    readonly metrics: Metrics,
    readonly shutdown: Shutdown,
    /** What callers wait for, and nothing when they wait for nothing. */
    readonly durability: StoreDurability | undefined,
  ) {}
}

export interface AppDefinition<S extends z.ZodObject> {
  readonly name: string;
  readonly env: S;
  /** Its output is an answer: its log goes beside it. */
  readonly answers?: boolean;
  /** Puts the application together and starts it; answers where its health is served. */
  start(runtime: Runtime, env: z.output<S>): Promise<{ app: INestApplicationContext; url: string }>;
}

type CommonEnv = LogSettings & { SHUTDOWN_TIMEOUT: number; SHUTDOWN_READY_DELAY?: number } & {
  [K in keyof typeof StoreEnv]: z.output<(typeof StoreEnv)[K]>;
} & { [K in keyof typeof DurabilityEnv]?: z.output<(typeof DurabilityEnv)[K]> };

/** The life of one process: settings, log, store, application, signals. Ends with one clear line when it cannot start. */
export async function runApp<S extends z.ZodObject>(definition: AppDefinition<S>): Promise<void> {
  const settings = readSettings(definition);
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
  const store = new WatchedStore(address, log, (why) => {
    if (!hasStarted) refuse(why);
    log.fatal({ event: 'store.unfit' }, why);
    void shutdown.begin('the store must not be used', 1);
  });
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
  // Before it has started: told to end in that moment, the application still closes before its connection does.
  shutdown.add({ name: 'the application', run: async () => (await starting).app.close() });
  try {
    const { url } = await starting;
    hasStarted = true;
    if (url) log.info({ event: 'app.started', url }, `${definition.name} is up at ${url}`);
    if (process.connected) process.send?.({ type: 'started', url });
  } catch (error) {
    log.debug({ err: error }, 'Where the start failed');
    refuse(startFailure(definition.name, error));
  }
}

/** Most starts find the store at once. One that does not goes on without it, and works when it comes. */
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

function startFailure(app: string, error: unknown): string {
  const { code, message, port } = error as NodeJS.ErrnoException & { port?: number };
  const setting = app === 'api' ? 'PORT' : 'HEALTH_PORT';
  if (code === 'EADDRINUSE') return `Port ${port} is taken by another program. Set ${setting} to a free one.`;
  return message || String(error);
}

/** Ends the process with one clear line. */
export function refuse(line: string): never {
  process.stderr.write(`${line}\n`);
  process.exit(1);
}

/** Whoever reads our lines may end first. What we have to do matters more than that it is read. */
function surviveLostOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

let isCrashing = false;

function crash(log: Log, error: unknown): void {
  // The log's own failure to write comes here too, and must not keep the process from its orderly end.
  if (isCrashing || (error as NodeJS.ErrnoException | undefined)?.code === 'EPIPE') return;
  isCrashing = true;
  try {
    log.fatal({ event: 'app.crashed', err: error }, 'Ending: something happened that should never happen');
  } finally {
    process.exit(1);
  }
}
