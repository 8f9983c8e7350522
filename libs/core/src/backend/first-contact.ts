import type { RedisClient } from '../scripts/redis-client.js';

/** The parts of BullMQ's connection that its first question to the store uses. Its types hide most of them. */
export interface FirstContact {
  readonly client: Promise<RedisClient>;
  readonly redisVersion: string;
}

interface Internals {
  readonly _client?: { removeListener(event: string, listener: unknown): unknown };
  readonly status: string;
  readonly handleClientError: unknown;
  readonly handleClientClose: unknown;
  readonly handleClientReady: unknown;
  initializing: Promise<RedisClient>;
  init(): Promise<RedisClient>;
}

/**
 * BullMQ asks the store for its version once. If that is not answered in time, its connection rejects every call for ever, although the
 * store answers again. Here the next call asks again.
 * @param known told the client and the version, before any caller gets the client
 */
export function askAgain(
  connection: FirstContact,
  known: (client: RedisClient, version: string) => void,
): () => Promise<RedisClient> {
  const tell = (client: RedisClient): RedisClient => {
    known(client, connection.redisVersion);
    return client;
  };
  const internals = connection as unknown as Internals;
  let hasFailed = false;
  let asked = watch(connection.client.then(tell));

  function watch(asking: Promise<RedisClient>): Promise<RedisClient> {
    // Callers get its error. Without a caller it is no error of the process.
    asking.catch(() => (hasFailed = true));
    return asking;
  }

  return () => {
    if (hasFailed && internals.status === 'initializing') {
      hasFailed = false;
      forgetListeners(internals);
      const initializing = internals.init();
      // `close` waits for it.
      internals.initializing = initializing;
      asked = watch(initializing.then(tell));
    }
    return asked;
  };
}

/** `init` adds them again. */
function forgetListeners(connection: Internals): void {
  connection._client?.removeListener('error', connection.handleClientError);
  connection._client?.removeListener('close', connection.handleClientClose);
  connection._client?.removeListener('ready', connection.handleClientReady);
}
