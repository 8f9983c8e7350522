import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FakeContainer } from '../support/fake-container.js';
import { FakeDocker, type Call, type Trouble } from '../support/fake-docker.js';
import { Fleet } from '../support/fleet.js';
import { LeaseCaller, type LeaseView } from '../support/leases.js';
import { untilNothingIsLeft } from '../support/leftovers.js';
import { seededRandom } from '../support/random.js';
import { until } from '../support/until.js';

const LEASES = 100;
const CALLERS = 20;
/** An attempt that hangs, and one whose process is killed, are within one. */
const INTERVAL_MS = 20_000;

/** What a caller was told of a lease. */
interface Told {
  readonly id: string;
  /** The latest deadline that he was promised. */
  expiresAt: number;
  /** When he ended it. */
  deletedAt?: number;
}

/** Random lengths, renewals, early ends; an engine that hangs, errs and restarts; workers and janitors that are killed. */
describe('a hundred leases', () => {
  let docker: FakeDocker;
  let fleet: Fleet;
  let leases: LeaseCaller;
  let random: () => number;
  let isOver: boolean;
  beforeEach(async () => {
    const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
    console.log(`SEED=${seed}`);
    random = seededRandom(seed);
    isOver = false;
    docker = await FakeDocker.start();
    const env = {
      DOCKER_HOST: docker.host,
      LEASE_REAP_EVERY: `${INTERVAL_MS}ms`,
      WORKER_LOCK: '2s',
      SWEEP_LOCK: '2s',
      LOG_LEVEL: 'info',
    };
    fleet = await Fleet.start({ workers: 2, janitor: true, env });
    fleet.addJanitor();
    leases = new LeaseCaller(fleet);
  });
  afterEach(async () => {
    await fleet.stop();
    await docker.stop();
  });

  it('end in time and not before, whatever goes wrong, and nobody else’s container is touched', async () => {
    const others = [docker.add('database'), docker.add('cache', { 'mooring.fleet': fleet.prefix })];
    const troubles = Promise.all([makeTrouble(), restartEngine(), kill('worker'), kill('janitor')]);
    const told = (await Promise.all(Array.from({ length: CALLERS }, () => call()))).flat();
    isOver = true;
    await troubles;
    docker.calm();

    expect(told).toHaveLength(LEASES);
    const ends = await Promise.all(told.map(untilOver));
    const [ofRecord] = [new Map(ends.map((lease) => [lease.id, lease]))];
    console.log(tally(ends.map(({ endedBy }) => String(endedBy))));
    expect(await leases.ids('manual-cleanup')).toEqual([]);
    expect(docker.running.map(({ name }) => name).toSorted()).toEqual(['cache', 'database']);
    expect(others.map(({ startedAt, endedAt }) => startedAt !== undefined && endedAt === undefined)).toEqual([
      true,
      true,
    ]);

    const all = [...docker.removed, ...docker.containers.values()].filter(({ name }) =>
      name.startsWith('lease-'),
    );
    expect(told.flatMap((one) => promisesBroken(one, ofRecord.get(one.id)!))).toEqual([]);
    expect(told.flatMap((one) => endedWrongly(one, ofRecord.get(one.id)!, all))).toEqual([]);
    expect(ends.filter(({ state }) => state === 'ended').length).toBeGreaterThan(LEASES / 2);
    await untilNothingIsLeft(fleet.storeUrl, fleet.prefix);
  }, 240_000);

  /** One caller: asks for a lease, perhaps renews it or ends it early, and asks for the next. */
  async function call(): Promise<Told[]> {
    const mine: Told[] = [];
    while (mine.length < LEASES / CALLERS) {
      const id = await leases.ask(800 + pick(4_000));
      const told: Told = { id, expiresAt: Date.parse((await leases.read(id)).expiresAt) };
      mine.push(told);
      await live(told);
    }
    return mine;
  }

  async function live(told: Told): Promise<void> {
    for (let turns = pick(4); turns > 0; turns -= 1) {
      await pause(pick(1_200));
      if (random() < 0.2) {
        told.deletedAt = Date.now();
        await leases.delete(told.id);
        return;
      }
      // Often at the very edge.
      if (random() < 0.4) await pause(Math.max(0, Math.min(5_000, told.expiresAt - Date.now() - pick(30))));
      const { status, body } = await leases.renew(told.id, 500 + pick(3_000));
      if (status === 200) told.expiresAt = Date.parse(String(body['expiresAt']));
    }
    await pause(Math.max(0, told.expiresAt - Date.now()));
  }

  async function makeTrouble(): Promise<void> {
    const calls: Call[] = ['create', 'start', 'stop', 'remove', 'inspect', 'list'];
    const sorts: Trouble[] = ['hang', 'hang-after', 'cut', 'lost', 'truncated', 'error', { slowMs: 800 }];
    while (!isOver) {
      docker.trouble({ call: calls[pick(calls.length)]!, trouble: sorts[pick(sorts.length)]! });
      await pause(pick(700));
    }
  }

  async function restartEngine(): Promise<void> {
    while (!isOver) {
      await pause(3_000 + pick(5_000));
      await docker.restart(pick(1_500));
    }
  }

  async function kill(app: 'worker' | 'janitor'): Promise<void> {
    for (let i = 0; i < 3 && !isOver; i += 1) {
      for (let waited = 0; waited < 3_000 + i * 2_000 && !isOver; waited += 100) await pause(100);
      const doomed = app === 'worker' ? fleet.workers[i]! : fleet.janitors[i]!;
      doomed.kill('SIGKILL');
      await fleet.untilReady(app === 'worker' ? fleet.addWorker() : fleet.addJanitor());
    }
  }

  function untilOver({ id }: Told): Promise<LeaseView> {
    return until(
      async () => {
        const lease = await leases.read(id);
        return (lease.state === 'ended' || lease.state === 'failed') && lease;
      },
      `lease ${id} is over`,
      90_000,
    );
  }

  function pick(below: number): number {
    return Math.floor(random() * below);
  }
});

/** Whoever was told of a deadline has it, unless he ended the lease himself, or nothing could be made for it. */
function promisesBroken(told: Told, lease: LeaseView): string[] {
  const by = told.deletedAt === undefined ? ['expired', 'failed'] : ['expired', 'failed', 'deleted'];
  if (!by.includes(lease.endedBy!)) return [`${told.id} was ended by ${lease.endedBy}: ${lease.why}`];
  const isEarly = lease.endedBy === 'expired' && Date.parse(lease.endedAt!) < told.expiresAt;
  const isLess = Date.parse(lease.expiresAt) < told.expiresAt;
  return isEarly || isLess ? [`${told.id} was promised ${told.expiresAt} and had ${lease.expiresAt}`] : [];
}

/** By what the engine saw: no container stopped before its lease was over, nor ran on for more than two intervals. */
function endedWrongly(told: Told, lease: LeaseView, all: readonly FakeContainer[]): string[] {
  const overAt = Math.min(told.expiresAt, lease.endedBy === 'deleted' ? told.deletedAt! : Infinity);
  return all
    .filter(({ name }) => name.endsWith(told.id))
    .flatMap(({ id, startedAt, endedAt }) => {
      if (startedAt === undefined) return [];
      if (endedAt === undefined) return [`${id} of ${told.id} runs`];
      const isEarly = endedAt < overAt && lease.endedBy !== 'failed';
      const isLate = endedAt > overAt + 2 * INTERVAL_MS;
      return isEarly || isLate
        ? [`${id} of ${told.id} (${lease.endedBy}) ended ${endedAt - overAt} ms after it`]
        : [];
    });
}

function tally(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
