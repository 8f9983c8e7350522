import type { Redis } from 'ioredis';

/** One connection to one run of one server: what was written over it is there as long as neither has ended. */
export interface Session {
  readonly node: Redis;
  readonly runId: string;
  readonly isOver: boolean;
}

const sessions = new WeakMap<Redis, Promise<Session>>();

/** The session that a client has now. A client that connects again has another one. */
export function sessionOf(node: Redis): Promise<Session> {
  let session = sessions.get(node);
  if (!session) {
    session = begin(node);
    sessions.set(node, session);
  }
  return session;
}

async function begin(node: Redis): Promise<Session> {
  const session = { node, runId: '', isOver: false };
  // Before anything that is asked now can be sent again over the next connection.
  node.once('close', () => {
    session.isOver = true;
    sessions.delete(node);
  });
  try {
    session.runId = readInfo(await node.info('server'))['run_id'] ?? '';
    if (session.runId === '') throw new Error('The server does not say which one it is.');
    return session;
  } catch (error) {
    sessions.delete(node);
    throw error;
  }
}

/** What INFO answers, as fields. */
export function readInfo(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split('\r\n').flatMap((line) => {
      const colon = line.indexOf(':');
      return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1)]] : [];
    }),
  );
}
