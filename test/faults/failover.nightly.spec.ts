import { afterEach, describe, expect, it } from 'vitest';
import { findServer } from '#runtime';
import { FailoverLoad, type Lost } from '../support/failover-load.js';
import { Fleet } from '../support/fleet.js';
import { RedisSentinel } from '../support/redis-sentinel.js';
import { until } from '../support/until.js';

/**
 * How long after the promotion the old master may still accept writes that are lost, and callers may still be refused:
 * about a second on a machine that is not busy with other tests, and ten without the Sentinels' messages.
 */
const LATE_MS = 4_000;
/** How long a worker may then take to run a job. */
const WORKING_MS = 2_000;
/** Longer than the Sentinels need to tell every client of the new master. */
const PAUSE_MS = 5_000;

/** The embedded store is always one server. */
const REAL_SERVER = findServer() !== undefined;

describe.runIf(REAL_SERVER)('a failover with Sentinels, under load', () => {
  let store: RedisSentinel;
  let fleet: Fleet;
  const start = async (env = {}): Promise<FailoverLoad> => {
    store = await RedisSentinel.start();
    const storeEnv = { REDIS_SENTINELS: store.addresses, REDIS_MASTER: store.name };
    fleet = await Fleet.start({ janitor: true, storeEnv, env });
    const load = new FailoverLoad(fleet);
    await until(() => load.jobs.length > 200 && load.cancels.length > 50, 'it is under load');
    return load;
  };
  afterEach(async () => {
    await fleet.stop();
    await store.stop();
  });

  it('that is planned: the old master accepts no write later than a moment after the promotion', async () => {
    const load = await start();
    await store.failOver();
    await store.untilPromoted();
    const promotedAt = performance.now();

    await expectMoved(fleet, load, promotedAt, store);
  });

  it('that is planned loses nothing that a replica was reported to hold', async () => {
    const load = await start({ DURABILITY: 'replica' });
    await store.failOver();
    await store.untilPromoted();
    const promotedAt = performance.now();

    const { jobs, receipts, revived } = await expectMoved(fleet, load, promotedAt, store);
    const lost = [...jobs, ...receipts, ...revived];
    expect(lost.filter(({ durable }) => durable !== false)).toEqual([]);
    const durable = [...load.jobs, ...load.cancels].filter((one) => one.durable === true);
    expect(durable.length).toBeGreaterThan(100);
  });

  it('of a master that is paused: it accepts no write when it resumes', async () => {
    const load = await start();
    store.master.freeze();
    await store.untilPromoted();
    const promotedAt = performance.now();
    await load.untilMoreAccepted();
    const wokenAt = performance.now();
    store.master.thaw();

    const { jobs, receipts, revived } = await expectMoved(fleet, load, promotedAt, store);
    expect([...jobs, ...receipts, ...revived].filter(({ at }) => at > wokenAt)).toEqual([]);
  });

  it('that is planned, with writes paused before it, loses nothing', async () => {
    const load = await start();
    await store.master.ask((redis) => redis.call('CLIENT', 'PAUSE', PAUSE_MS, 'WRITE'));
    await store.failOver();
    await store.untilPromoted();
    const promotedAt = performance.now();

    const { jobs, receipts, revived } = await expectMoved(fleet, load, promotedAt, store);
    expect([...jobs, ...receipts, ...revived]).toEqual([]);
    const facts = fleet.processes.flatMap((process) => process.facts());
    expect(facts.filter(({ event }) => event === 'store.went-back')).toEqual([]);
  });
});

/** Compares the answers with the contents of the store, once it is known which server is the master. */
async function expectMoved(
  fleet: Fleet,
  load: FailoverLoad,
  promotedAt: number,
  store: RedisSentinel,
): Promise<Lost> {
  // Until then, a connection that stays with the old master loses its writes; afterwards there is only the new master.
  await store.untilDemoted();
  await load.untilMoreAccepted();
  const isLate = (one: { readonly at: number }): boolean => one.at - promotedAt > LATE_MS;
  await until(() => load.jobs.filter(isLate).length > 5, 'callers go on long enough');
  await load.stop();
  // The connection on which the worker waits for jobs has moved as well.
  await fleet.untilState(await fleet.probe(), 'completed', WORKING_MS);
  const lost = await load.lost();
  const all = [...lost.jobs, ...lost.receipts, ...lost.revived];

  expect(all.filter(isLate)).toEqual([]);
  expect(load.failed.filter(isLate)).toEqual([]);
  expect(load.failed.filter(({ status, mayTryAgain }) => status !== 503 || !mayTryAgain)).toEqual([]);
  return lost;
}
