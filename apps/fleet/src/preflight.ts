import {
  checkStore,
  closeStore,
  connectStore,
  createLog,
  describeAddress,
  type StoreAddress,
} from '#runtime';
import { once } from 'node:events';
import { createServer } from 'node:net';

const ANSWER_MS = 5_000;

/** Throws a one-line error if the port is taken. */
export async function checkPort(port: number, host: string): Promise<void> {
  if (port === 0) return;
  const probe = createServer().listen(port, host);
  try {
    await once(probe, 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isTaken = `Port ${port} is taken by another program. Choose a free one: PORT=${port + 1} npm start`;
    throw new Error(code === 'EADDRINUSE' ? isTaken : `Cannot listen on ${host}:${port}: ${message}`, {
      cause: error,
    });
  }
  await once(probe.close(), 'close');
}

/** Throws a one-line error if the store is missing, refuses the credentials, or is misconfigured. */
export async function checkAddress(address: StoreAddress, prefix: string): Promise<void> {
  const name = describeAddress(address);
  const redis = connectStore(address, createLog('fleet', { LOG_LEVEL: 'silent' }));
  try {
    await once(redis, 'ready', { signal: AbortSignal.timeout(ANSWER_MS) }).catch((error: Error) => {
      throw new Error(sentence(name, error), { cause: error });
    });
    await checkStore(redis, prefix);
  } finally {
    await closeStore(redis);
  }
}

function sentence(name: string, error: Error): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ABORT_ERR') return `The store at ${name} does not answer.`;
  if (/^(WRONGPASS|NOAUTH|NOPERM)/.test(message)) {
    return `The store at ${name} refuses this user or password. Correct REDIS_URL (${message}).`;
  }
  return `No store at ${name} (${code ?? message}). Start it, or correct REDIS_URL, or unset it to get a private store.`;
}
