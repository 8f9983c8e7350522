import type { Redis } from 'ioredis';
import { readInfo } from '../info.js';

/** One connection to one run of one server: what was written over it is there as long as neither has ended. */
export interface Session {
  readonly runId: string;
  readonly isOver: boolean;
}

/** Which session a client has now. What it asks goes over the connection that it asks about. */
export class Sessions {
  private readonly known = new WeakMap<Redis, Promise<Session>>();

  of(redis: Redis): Promise<Session> {
    let session = this.known.get(redis);
    if (!session) {
      session = this.ask(redis);
      this.known.set(redis, session);
    }
    return session;
  }

  private async ask(redis: Redis): Promise<Session> {
    let isOver = false;
    // Before anything that is asked now can be sent again over the next connection.
    redis.once('close', () => {
      isOver = true;
      this.known.delete(redis);
    });
    try {
      const { run_id: runId = '' } = readInfo(await redis.info('server'));
      if (runId === '') throw new Error('The server does not say which one it is.');
      return {
        runId,
        get isOver() {
          return isOver;
        },
      };
    } catch (error) {
      this.known.delete(redis);
      throw error;
    }
  }
}
