import { afterEach, describe, expect, it } from 'vitest';
import { findServer, startEmbedded } from '#runtime';
import { Fleet, type FleetOptions } from '../support/fleet.js';
import { Phone } from '../support/phone.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { freePort } from '../support/store.js';

/** Well before the next heartbeat, on which every stream reads anyway. */
const HEARD_AGAIN_MS = 3_000;

describe('trips', () => {
  let ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ends.toReversed()) await end();
    ends = [];
  });

  it.runIf(findServer())('are offered and accepted on a Redis Cluster', async () => {
    const cluster = await RedisCluster.start();
    ends.push(() => cluster.stop());
    // Simulates the replacement of the node that the api subscribes to.
    const cutOff = (): Promise<unknown> =>
      Promise.all(
        cluster.nodes.map((node) => node.ask((redis) => redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub'))),
      );
    await expectWalk({ storeEnv: { REDIS_CLUSTER: cluster.addresses } }, cutOff);
  });

  it('are offered and accepted on the embedded store', async () => {
    const store = await startEmbedded({ port: await freePort(), stdio: 'ignore' });
    ends.push(() => {
      process.kill(store.pid, 'SIGKILL');
      return store.exited;
    });
    await expectWalk({ storeEnv: { REDIS_URL: store.url } });
  });

  async function expectWalk(options: FleetOptions, cutOff?: () => Promise<unknown>): Promise<void> {
    const fleet = await Fleet.start({ ...options, janitor: true });
    ends.push(() => fleet.stop());
    const post = (path: string, body: object = {}): ReturnType<Fleet['request']> =>
      fleet.request('POST', path, body);
    const drivers = ['ann', 'bob', 'cem'];
    for (const id of drivers) await fleet.request('PUT', `/v1/drivers/${id}`, { available: true });
    const phones = await Promise.all(drivers.map((id) => Phone.connect(fleet.url, id)));
    ends.push(() => Promise.resolve(phones.forEach((phone) => phone.close())));

    const ask = async (expiresIn: string): Promise<string> =>
      String((await post('/v1/trips', { customerId: 'rida', driverIds: drivers, expiresIn })).body['id']);
    const [first, second] = [await ask('5m'), await ask('10s')];
    for (const phone of phones) await phone.untilSeen('offer', first);
    const answers = await Promise.all(
      drivers.map((driverId) => post(`/v1/trips/${first}/accept`, { driverId })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);

    const winner = answers.find(({ status }) => status === 200)!.body['driverId'];
    for (const phone of phones.filter(({ driverId }) => driverId !== winner)) {
      await phone.untilSeen('withdrawn', first);
      await phone.untilSeen('offer', second);
      expect((await phone.untilSeen('withdrawn', second)).data.reason).toBe('expired');
    }
    const phone = phones.find(({ driverId }) => driverId !== winner)!;
    for (let i = 0; cutOff && i < 5; i += 1) {
      await cutOff();
      const next = await ask('5m');
      await phone.untilSeen('offer', next, HEARD_AGAIN_MS);
      await cutOff();
      await post(`/v1/trips/${next}/cancel`);
      await phone.untilSeen('withdrawn', next, HEARD_AGAIN_MS);
    }
    expect((await post(`/v1/trips/${first}/complete`)).body).toMatchObject({ status: 'COMPLETED' });
    expect((await fleet.request('GET', `/v1/owners/trip/${first}`)).body).toMatchObject({
      counts: { jobs: 0 },
    });
  }
});
