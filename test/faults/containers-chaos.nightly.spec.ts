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
/** Containers that the engine cannot remove while faults last. */
const LASTING = 4;
/** Covers an attempt that hangs and one whose process is killed. */
const INTERVAL_MS = 20_000;

/** What a caller knows of a lease. */
interface Told {
  readonly id: string;
  /** The latest deadline promised to the caller. */
  expiresAt: number;
  /** When the caller deleted it. */
  deletedAt?: number;
}

/**
 * Random durations, renewals and early ends; an engine that hangs, fails and restarts; killed workers and
 * janitors.
 */
describe('a hundred leases', () => {
  let docker: FakeDocker;
  let fleet: Fleet;
  let leases: LeaseCaller;
  let random: () => number;
  let isOver: boolean;
  /** Containers that the engine stopped during its restart, and those it could not remove. */
  let stopped: Set<string>;
  let lasting: Set<string>;
  beforeEach(async () => {
    const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
    console.log(`SEED=${seed}`);
    random = seededRandom(seed);
    isOver = false;
    [stopped, lasting] = [new Set(), new Set()];
    docker = await FakeDocker.start();
    const env = {
      DOCKER_HOST: docker.host,
      LEASE_REAP_EVERY: `${INTERVAL_MS}ms`,
      WORKER_LOCK: '2s',
      SWEEP_LOCK: '2s',
      LOG_LEVEL: 'info',
      // The slot of a job whose worker is killed right after it ended is freed by the repair sweep.
      REPAIR_EVERY: '1s',
    };
    fleet = await Fleet.start({ workers: 2, janitor: true, env });
    fleet.addJanitor();
    leases = new LeaseCaller(fleet);
  });
  afterEach(async () => {
    await fleet.stop();
    await docker.stop();
  });

  it('end in time and not before, whatever fails, and touch no foreign container', async () => {
    const others = [docker.add('database'), docker.add('cache', { 'mooring.fleet': fleet.prefix })];
    const troubles = Promise.all([makeTrouble(), restartEngine(), kill('worker'), kill('janitor')]);
    const told = (await Promise.all(Array.from({ length: CALLERS }, () => call()))).flat();
    isOver = true;
    await troubles;
    docker.calm();
    const calmAt = Date.now();

    expect(told).toHaveLength(LEASES);
    const ends = await Promise.all(told.map(untilOver));
    const ofRecord = new Map(ends.map((lease) => [lease.id, lease]));
    console.log(tally(ends.map(({ endedBy }) => String(endedBy))));
    // They were in manual clean-up for a while; then the sweep ended them.
    console.log(`given up meanwhile: ${givenUp().length} of ${lasting.size}`);
    expect(givenUp().length).toBeGreaterThan(0);
    expect(docker.running.map(({ name }) => name).toSorted()).toEqual(['cache', 'database']);
    expect(others.map(({ startedAt, endedAt }) => startedAt !== undefined && endedAt === undefined)).toEqual([
      true,
      true,
    ]);

    const all = [...docker.removed, ...docker.containers.values()].filter(({ name }) =>
      name.startsWith('lease-'),
    );
    const facts = { all, stopped, lasting, calmAt };
    expect(told.flatMap((one) => promisesBroken(one, ofRecord.get(one.id)!, facts))).toEqual([]);
    expect(told.flatMap((one) => endedWrongly(one, ofRecord.get(one.id)!, facts))).toEqual([]);
    expect(ends.filter(({ state }) => state === 'ended').length).toBeGreaterThan(LEASES / 2);
    await untilNothingIsLeft(fleet.storeUrl, fleet.prefix, 30_000);
  }, 240_000);

  /** Leases that a process reported as given up. */
  function givenUp(): string[] {
    const facts = fleet.processes.flatMap((process) => process.facts());
    return facts
      .filter(({ event }) => event === 'lease.manual-cleanup')
      .map(({ leaseId }) => String(leaseId));
  }

  /** One caller: creates a lease, perhaps renews it or ends it early, and creates the next. */
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
      // Often right before the deadline.
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
      const one = docker.running.find(({ id, name }) => name.startsWith('lease-') && !lasting.has(id));
      // A container that cannot be removed by any process while the fault lasts.
      if (one && lasting.size < LASTING) {
        lasting.add(one.id);
        const which = random() < 0.5 ? 'stop' : 'remove';
        docker.trouble({ call: which, trouble: 'error', of: one.id, times: 20 });
      }
      await pause(pick(700));
    }
  }

  async function restartEngine(): Promise<void> {
    while (!isOver) {
      await pause(3_000 + pick(5_000));
      // Some restarts stop running containers.
      const stops = random() < 0.3;
      for (const one of await docker.restart(pick(1_500), { stops })) {
        if (one.name.startsWith('lease-')) stopped.add(one.id);
        else one.start();
      }
    }
  }

  async function kill(app: 'worker' | 'janitor'): Promise<void> {
    for (let i = 0; i < 3 && !isOver; i += 1) {
      for (let waited = 0; waited < 3_000 + i * 2_000 && !isOver; waited += 100) await pause(100);
      const victim = app === 'worker' ? fleet.workers[i]! : fleet.janitors[i]!;
      victim.kill('SIGKILL');
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

/** What the engine observed. */
interface Facts {
  readonly all: readonly FakeContainer[];
  readonly stopped: ReadonlySet<string>;
  readonly lasting: ReadonlySet<string>;
  readonly calmAt: number;
}

/**
 * A promised deadline holds, unless the caller or the engine ended the lease, or its container could not be
 * created.
 */
function promisesBroken(told: Told, lease: LeaseView, { stopped }: Facts): string[] {
  const by = ['expired'];
  if (told.deletedAt !== undefined) by.push('deleted');
  if (lease.containerId === null) by.push('failed');
  else if (stopped.has(lease.containerId)) by.push('container-gone');
  if (!by.includes(lease.endedBy!)) return [`${told.id} was ended by ${lease.endedBy}: ${lease.why}`];
  const isEarly = lease.endedBy === 'expired' && Date.parse(lease.endedAt!) < told.expiresAt;
  const isLess = Date.parse(lease.expiresAt) < told.expiresAt;
  return isEarly || isLess ? [`${told.id} was promised ${told.expiresAt} and had ${lease.expiresAt}`] : [];
}

/** No container was stopped by the fleet before its lease was over, or ran on for more than two intervals. */
function endedWrongly(told: Told, lease: LeaseView, { all, stopped, lasting, calmAt }: Facts): string[] {
  const overAt = Math.min(told.expiresAt, lease.endedBy === 'deleted' ? told.deletedAt! : Infinity);
  return all
    .filter(({ name }) => name.endsWith(told.id))
    .flatMap(({ id, startedAt, endedAt }) => {
      if (startedAt === undefined) return [];
      if (endedAt === undefined) return [`${id} of ${told.id} runs`];
      const isEarly = endedAt < overAt && lease.endedBy !== 'failed' && !stopped.has(id);
      const isLate = endedAt > (lasting.has(id) ? Math.max(overAt, calmAt) : overAt) + 2 * INTERVAL_MS;
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
