import { Redis } from 'ioredis';

import type { StoreKind } from './stores.js';

export interface Noticed {
  readonly takenPort: string;
  readonly killed: string;
  readonly shutdown: string;
}

/** What the one who started a store is told: of a port that is taken, of a killed process, of a SHUTDOWN. */
export async function noticed(kind: StoreKind): Promise<Noticed> {
  return { takenPort: await takenPort(kind), killed: await killed(kind), shutdown: await shutdown(kind) };
}

async function takenPort(kind: StoreKind): Promise<string> {
  const first = await kind.start();
  const second = await kind.start(first.port).catch((error: Error) => error);
  if (!(second instanceof Error)) await second.stop();
  await first.stop();
  return second instanceof Error ? 'yes' : 'NO';
}

async function killed(kind: StoreKind): Promise<string> {
  const store = await kind.start();
  process.kill(store.pid, 'SIGKILL');
  const { signal } = await store.exited;
  return signal === 'SIGKILL' ? 'yes' : 'NO';
}

async function shutdown(kind: StoreKind): Promise<string> {
  const store = await kind.start();
  const client = new Redis(store.url, { retryStrategy: () => null });
  client.on('error', () => {});
  // The server answers SHUTDOWN by going.
  await client.shutdown('NOSAVE').catch(() => {});
  const { code } = await Promise.race([store.exited, giveUp()]);
  client.disconnect();
  if (code === null) await store.stop();
  return code === 0 ? 'yes' : 'NO';
}

function giveUp(): Promise<{ code: null }> {
  return new Promise((resolve) => setTimeout(() => resolve({ code: null }), 5_000).unref());
}
