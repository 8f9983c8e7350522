import { Sweeper } from '#nestjs';
import { HttpResolver } from '#resolvers';
import type { Redis } from 'ioredis';
import { startApp } from './sweep.app.js';
import { KNOWN } from './trips.js';
import type { Side, Swept } from './sweeper.process.js';

/** Two observations end an owner: so it is swept twice, and both count. */
export async function ours(redis: Redis, serviceUrl: string): Promise<Side> {
  const trips = new HttpResolver({ type: 'trip', url: `${serviceUrl}/owners`, canaries: KNOWN });
  const app = await startApp(redis, trips);
  const sweep = async (): Promise<Swept> => {
    const record = await app.get(Sweeper).sweep('orphans');
    if (record?.state !== 'done' || record.failed > 0 || record.unknown > 0)
      throw new Error(`the sweep did not do it all: ${JSON.stringify(record)}`);
    return { asked: record.seen, removed: record.jobs };
  };
  return {
    async sweep() {
      const first = await sweep();
      const second = await sweep();
      return { asked: first.asked + second.asked, removed: second.removed };
    },
    async close() {
      trips.close();
      await app.close();
    },
  };
}
