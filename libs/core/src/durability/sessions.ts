import type { Redis } from 'ioredis';

/** One connection to one run of one server: what was written over it is there as long as neither has ended. */
export interface Session {
  readonly node: Redis;
  readonly runId: string;
  readonly isOver: boolean;
}

/** The session that each client has now. A client that connects again has another one. */
export class Sessions {
  private readonly known = new WeakMap<Redis, Promise<Session>>();

  of(node: Redis): Promise<Session> {
    let session = this.known.get(node);
    if (!session) {
      session = this.ask(node);
      this.known.set(node, session);
    }
    return session;
  }

  private async ask(node: Redis): Promise<Session> {
    let isOver = false;
    // Before anything that is asked now can be sent again over the next connection.
    node.once('close', () => {
      isOver = true;
      this.known.delete(node);
    });
    try {
      const runId = readInfo(await node.info('server'))['run_id'];
      if (!runId) throw new Error('The server does not say which one it is.');
      return {
        node,
        runId,
        get isOver() {
          return isOver;
        },
      };
    } catch (error) {
      this.known.delete(node);
      throw error;
    }
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
