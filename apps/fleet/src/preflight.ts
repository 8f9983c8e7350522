import {
  checkStore,
  closeStore,
  connectStore,
  createLog,
  describeAddress,
  type StoreAddress,
} from '#runtime';
import { createServer } from 'node:net';

const ANSWER_MS = 5_000;

/** Throws a one-line error if the port is taken. */
export async function checkPort(port: number, host: string): Promise<void> {
  if (port === 0) return;
  await new Promise<void>((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(
              `Port ${port} is taken by another program. Choose a free one: PORT=${port + 1} npm start`,
            )
          : new Error(`Cannot listen on ${host}:${port}: ${error.message}`),
      );
    });
    probe.listen(port, host, () => probe.close(() => resolve()));
  });
}

/** Throws a one-line error if the store is missing, refuses the credentials, or is misconfigured. */
export async function checkAddress(address: StoreAddress, prefix: string): Promise<void> {
  const name = describeAddress(address);
  const redis = connectStore(address, createLog('fleet', { LOG_LEVEL: 'silent' }));
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`The store at ${name} does not answer.`)), ANSWER_MS);
      const settle = (end: () => void) => (): void => {
        clearTimeout(timer);
        end();
      };
      redis.once('ready', settle(resolve));
      redis.once('error', (error: Error) => settle(() => reject(new Error(sentence(name, error))))());
    });
    await checkStore(redis, prefix);
  } finally {
    await closeStore(redis);
  }
}

function sentence(name: string, error: Error): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (/^(WRONGPASS|NOAUTH|NOPERM)/.test(message)) {
    return `The store at ${name} refuses this user or password. Correct REDIS_URL (${message}).`;
  }
  return `No store at ${name} (${code ?? message}). Start it, or correct REDIS_URL, or unset it to get a private store.`;
}
