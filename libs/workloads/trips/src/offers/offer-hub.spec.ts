import { WorkloadStore } from '#workload-kit';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { until } from '../../../../../test/support/until.js';
import { TripRepository } from '../trip-repository.js';
import type { Trips } from '../trips.service.js';
import { OfferHub } from './offer-hub.js';

class Line extends Writable {
  writeHead(): this {
    return this;
  }

  text = '';

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

describe('offer streams of one process', () => {
  let redis: Redis;
  let trips: TripRepository;
  let hub: OfferHub;
  let withdrawn: string[];
  beforeEach(() => {
    redis = new Redis(inject('storeUrl'));
    const store = new WorkloadStore(redis, `hub-${randomBytes(6).toString('hex')}`);
    trips = new TripRepository(store);
    withdrawn = [];
    const expire = (id: string): Promise<number> => {
      withdrawn.push(id);
      return trips.finish(id, 'EXPIRED', 'expired').then(() => 0);
    };
    hub = new OfferHub(store, trips, { expire } as unknown as Trips);
  });
  afterEach(async () => {
    hub.onModuleDestroy();
    const left = await redis.keys(`${trips.root}:*`);
    if (left.length > 0) await redis.unlink(...left);
    await redis.quit();
  });

  async function look(driverId: string): Promise<Line> {
    await until(() => redis.status === 'ready', 'the store is there');
    const begin = await hub.prepare(driverId);
    const line = new Line();
    begin(line as unknown as ServerResponse, {});
    return line;
  }

  const channels = async (): Promise<string[]> => {
    const names = (await redis.pubsub('CHANNELS', `${trips.root}:offers:*`)) as string[];
    return names
      .map((name) => name.slice(`${trips.root}:offers:`.length))
      .toSorted((a, b) => a.localeCompare(b));
  };

  it('release the stream and the subscription when the phone disconnects', async () => {
    const lines = [await look('ann'), await look('ann'), await look('bob')];
    expect({ size: hub.size, channels: await channels() }).toEqual({ size: 3, channels: ['ann', 'bob'] });
    lines[0]!.destroy();
    await until(() => hub.size === 2, 'it is gone');
    expect(await channels()).toEqual(['ann', 'bob']);
    for (const line of lines) line.destroy();
    await until(async () => hub.size === 0 && (await channels()).length === 0, 'nothing is left');
  });

  it('close the oldest stream of a driver when a ninth connects', async () => {
    const lines: Line[] = [];
    for (let i = 0; i < 9; i += 1) lines.push(await look('ann'));
    await until(() => hub.size === 8, 'the first is let go');
    expect(lines.map((line) => line.writableEnded)).toEqual([
      true,
      ...Array.from({ length: 8 }, () => false),
    ]);
  });

  it('show no offer past its expiry, even if its timeout job does not run', async () => {
    await until(() => redis.status === 'ready', 'the store is there');
    const trip = {
      id: 't',
      customerId: 'rider',
      driverIds: ['ann', 'bob'],
      livesMs: 2_000,
      key: '',
      secret: 's',
    };
    for (const id of trip.driverIds) await trips.setAvailable(id, true);
    const lines = [await look('ann'), await look('ann'), await look('bob')];
    await trips.create(trip);
    for (const id of trip.driverIds) await trips.offer('t', id, 'a job');
    await until(() => lines.every(({ text }) => text.includes('event: offer')), 'all show it');
    await until(() => lines.every(({ text }) => text.includes('"reason":"expired"')), 'none does');
    expect(withdrawn).toEqual(['t']);
    await until(() => hub['ends'].size === 0, 'nothing is waited for');
  });

  it('keep no expiry timer for an offer without a stream', async () => {
    await until(() => redis.status === 'ready', 'the store is there');
    await trips.setAvailable('ann', true);
    await trips.create({
      id: 't',
      customerId: 'rider',
      driverIds: ['ann'],
      livesMs: 60_000,
      key: '',
      secret: 's',
    });
    await trips.offer('t', 'ann', 'a job');
    const line = await look('ann');
    await until(() => hub['ends'].size === 1, 'it is waited for');
    line.destroy();
    await until(() => hub['ends'].size === 0, 'it is not');
    await look('ann');
    await until(() => hub['ends'].size === 1, 'it is again');
    await trips.finish('t', 'CANCELLED', 'off');
    await until(() => hub['ends'].size === 0, 'it is withdrawn');
    expect(withdrawn).toEqual([]);
  });

  it('limit how many streams read the store at once', async () => {
    let [looking, most, looks] = [0, 0, 0];
    for (let i = 0; i < 300; i += 1) await look(`driver-${i % 50}`);
    const real = trips.look.bind(trips);
    trips.look = async (...args) => {
      looks += 1;
      most = Math.max(most, (looking += 1));
      return real(...args).finally(() => (looking -= 1));
    };
    // Simulates a lost connection that reconnects.
    hub['connection']!.disconnect(true);
    await until(() => looks >= 300 && looking === 0, 'all have looked');
    expect(most).toBeGreaterThan(50);
    expect(most).toBeLessThanOrEqual(100);
  });
});
