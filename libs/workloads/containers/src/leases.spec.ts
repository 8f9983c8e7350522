import { owner, Owners, QueueFullError } from '#core';
import { Enqueuer, OwnerReader, Sweeper, type SweepOrder, type SweepRecord } from '#nestjs';
import { ownerResolver, WorkloadStore } from '#workload-kit';
import type { INestApplicationContext, Provider } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KindApp } from '../../../../test/support/kind-app.js';
import { until } from '../../../../test/support/until.js';
import { end, leaseOwner, OWNER_TYPE, provision } from './lease-kinds.js';
import { ContainerRemover } from './container-remover.js';
import {
  ContainerEngine,
  EngineUnavailable,
  type Container,
  type ContainerSpec,
} from './engines/container-engine.js';
import { FleetSecret, FleetSignature } from './fleet-signature.js';
import { LeaseTerminator } from './lease-terminator.js';
import { LeaseJobs } from './lease-jobs.js';
import { LeaseRepository } from './lease-repository.js';
import { LeaseLimits, Leases } from './leases.service.js';
import { ContainerReconciler } from './reaper/container-reconciler.js';
import { LeaseReconciler } from './reaper/lease-reconciler.js';
import { LeaseReaper } from './reaper/lease-reaper.js';
import { LeaseSurvey } from './reaper/lease-survey.js';
import { LeaseSweep } from './reaper/lease-sweep.js';

/** An engine that the test controls and that records its calls. */
class Bench extends ContainerEngine {
  name = 'bench';
  readonly all = new Map<string, Container>();
  readonly asked: string[] = [];
  isAway = false;
  isStuck = false;
  at: string | undefined;

  override async place(): Promise<string | undefined> {
    return this.at;
  }

  async create(spec: ContainerSpec): Promise<Container> {
    return this.put(spec.name, spec.labels);
  }

  async find(id: string): Promise<Container | undefined> {
    this.answer(`find ${id}`);
    return this.all.get(id);
  }

  async named(name: string): Promise<Container | undefined> {
    this.answer(`named ${name}`);
    return [...this.all.values()].find((one) => one.name === name);
  }

  async list(): Promise<readonly Container[]> {
    this.answer('list');
    return [...this.all.values()];
  }

  async stop(id: string): Promise<void> {
    this.answer(`stop ${id}`);
    if (this.isStuck) throw new Error('it does not stop');
    this.change(id, { running: false });
  }

  async remove(id: string): Promise<void> {
    this.answer(`remove ${id}`);
    this.all.delete(id);
  }

  put(name: string, labels: Container['labels'], createdAt = Date.now()): Container {
    const made = { id: randomUUID(), name, labels, createdAt, running: true };
    this.all.set(made.id, made);
    return made;
  }

  change(id: string, how: Partial<Container>): void {
    const container = this.all.get(id);
    if (container) this.all.set(id, { ...container, ...how });
  }

  private answer(call: string): void {
    if (this.isAway) throw new EngineUnavailable('The engine is away.');
    this.asked.push(call);
  }
}

const LIMITS: LeaseLimits = { images: ['alpine', 'node:20'], longestMs: 3_600_000, places: 4 };
const OLD_MS = 60_000;
const LeaseOwnerResolver = ownerResolver(OWNER_TYPE, LeaseRepository);

describe('leases without a worker', () => {
  let app: KindApp;
  let context: INestApplicationContext;
  let engine: Bench;
  let leases: Leases;
  let repository: LeaseRepository;
  beforeEach(async () => {
    engine = new Bench();
    app = new KindApp();
    const providers: Provider[] = [
      { provide: ContainerEngine, useValue: engine },
      { provide: FleetSecret, useValue: { given: 'a secret of this test' } },
      { provide: LeaseLimits, useValue: LIMITS },
      { provide: WorkloadStore, useValue: new WorkloadStore(app.redis, app.prefix) },
      ContainerRemover,
      ContainerReconciler,
      FleetSignature,
      LeaseReconciler,
      LeaseTerminator,
      LeaseOwnerResolver,
      LeaseReaper,
      LeaseRepository,
      LeaseJobs,
      LeaseSurvey,
      LeaseSweep,
      Leases,
    ];
    context = await app.start([provision, end], providers);
    leases = context.get(Leases);
    repository = context.get(LeaseRepository);
  });
  afterEach(async () => {
    engine.isAway = engine.isStuck = false;
    for (const state of ['provisioning', 'running', 'ending', 'manual-cleanup'] as const)
      for (const lease of (await repository.walk(state, undefined, 100)).leases)
        await leases.delete(lease.id, 'the test');
    await until(async () => {
      await lookNow();
      await sweep();
      return (await repository.places()) === 0 && (await app.redis.zcard(`${repository.root}:due`)) === 0;
    }, 'all are over');
    await app.untilNothingIsLeft();
    await app.stop();
  });

  it('get the jobs that their api died before enqueueing', async () => {
    const id = randomUUID();
    await repository.create({ id, image: 'alpine', livesMs: 60_000, owner: 'trip:1', key: '' }, 4);
    expect((await leases.read(id)).jobs).toBeUndefined();
    await lookNow();
    const { jobs } = await until(async () => {
      const lease = await leases.read(id);
      return lease.jobs && lease;
    }, 'they are sent');
    expect(new Set(await jobsOf('lease', id))).toEqual(new Set([jobs!.end, jobs!.send]));
    expect(new Set(await jobsOf('trip', '1'))).toEqual(new Set([jobs!.moor, jobs!.send]));
  });

  it('end when their owner is lost before their jobs are sent', async () => {
    const id = randomUUID();
    await context.get(Owners).cancel(owner('trip', '2'));
    await repository.create({ id, image: 'alpine', livesMs: 60_000, owner: 'trip:2', key: '' }, 4);
    await lookNow();
    await untilState(id, 'ending');
    expect(await leases.read(id)).toMatchObject({ endedBy: 'owner', why: 'trip:2 is closed' });
  });

  it('remove nothing for a refused lease', async () => {
    await context.get(Owners).cancel(owner('trip', '3'));
    const refused = leases.ask({ image: 'alpine', livesMs: 60_000, owner: 'trip:3' });
    await expect(refused).rejects.toMatchObject({ code: 'OWNER_CLOSED' });
    expect(await repository.places()).toBe(0);
    expect((await leases.list(undefined, undefined)).leases).toEqual([]);
  });

  it('are one lease per key and order, for every caller that repeats the call', async () => {
    const order = { image: 'alpine', livesMs: 60_000 };
    const [one, again] = [await leases.ask(order, 'ann\0k'), await leases.ask(order, 'ann\0k')];
    expect(again.id).toBe(one.id);
    expect((await leases.ask(order, 'bob\0k')).id).not.toBe(one.id);
    const another = leases.ask({ ...order, owner: 'trip:5' }, 'ann\0k');
    await expect(another).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  });

  it('are created again under the key of a lease that has expired from the store', async () => {
    const order = { image: 'alpine', livesMs: 60_000 };
    const { id } = await leases.ask(order, 'ann key');
    expect(await leases.ask(order, 'ann key')).toMatchObject({ id });
    expect(await leases.ask(order, 'bob key')).not.toMatchObject({ id });
    await leases.delete(id, '');
    await lookNow();
    await untilState(id, 'ended');
    expect(await leases.ask(order, 'ann key')).toMatchObject({ id, state: 'ended' });
    // A day later.
    for (const key of await app.redis.keys(`${repository.root}:*`))
      if ((await app.redis.pttl(key)) > 0) await app.redis.pexpire(key, 0);
    const another = await leases.ask(order, 'ann key');
    expect(another).toMatchObject({ state: 'provisioning' });
    expect(await jobsOf('lease', another.id)).toHaveLength(2);
  });

  it('are created again with the key of a refused lease, and keep their jobs', async () => {
    const sending = context.get(LeaseJobs);
    sending.send = () => Promise.reject(new QueueFullError('containers', 1));
    const order = { image: 'alpine', livesMs: 60_000 };
    await expect(leases.ask(order, 'key')).rejects.toThrow(QueueFullError);
    expect(await repository.places()).toBe(0);
    sending.send = (lease) => LeaseJobs.prototype.send.call(sending, lease);
    const { id } = await leases.ask(order, 'key');
    expect(await jobsOf('lease', id)).toHaveLength(2);
  });

  it('exist although they were refused, if another process had sent their jobs', async () => {
    const sending = context.get(LeaseJobs);
    sending.send = async (lease) => {
      await LeaseJobs.prototype.send.call(sending, lease);
      await repository.begin(lease.id, 1_000);
      throw new QueueFullError('containers', 1);
    };
    const { id, state } = await leases.ask({ image: 'alpine', livesMs: 60_000 });
    expect(state).toBe('provisioning');
    expect(await jobsOf('lease', id)).toHaveLength(2);
    expect(await leases.read(id)).toMatchObject({ state: 'provisioning' });
  });

  it('are cleaned up after a process died at their end', async () => {
    const { id, jobs } = await running({ owner: 'trip:4', livesMs: 60_000 });
    await closeOnly(id);
    const claimed = await repository.claim(id, 1_000);
    expect(claimed).toMatchObject({ word: 'claimed', claim: { attempt: 1, how: 'deleted' } });
    if (claimed.word !== 'claimed') return;
    engine.all.clear();
    await repository.ended(id, claimed.claim);
    expect(await jobsOf('trip', '4')).toContain(jobs!.moor);
    await lookNow();
    await until(async () => (await jobsOf('trip', '4')).length === 0, 'its owner no longer has it');
    expect(await context.get(OwnerReader).read(leaseOwner(id))).toMatchObject({ state: 'closed' });
  });

  it('are ended by the reconciler at their deadline, stop before remove, and not earlier', async () => {
    const { id, made } = await running({ livesMs: 2_000 });
    await lookNow();
    expect(engine.asked.filter((call) => call.startsWith('stop'))).toEqual([]);
    await until(
      async () => Date.parse((await leases.read(id)).expiresAt) < (await repository.now()),
      'it is over',
    );
    engine.asked.length = 0;
    await lookNow();
    await untilState(id, 'ended');
    expect(engine.asked).toEqual([
      `find ${made!.id}`,
      `stop ${made!.id}`,
      `remove ${made!.id}`,
      `find ${made!.id}`,
    ]);
  });

  it('leave a container alone that is not the recorded one, whatever they share', async () => {
    const { id, made } = await running({ livesMs: 60_000 });
    // The same id, name and labels, but another creation time.
    engine.change(made!.id, { createdAt: made!.createdAt + 1 });
    const other = engine.all.get(made!.id)!;
    await leases.delete(id, '');
    await lookNow();
    await untilState(id, 'ended');
    expect(engine.all.get(other.id)).toEqual(other);
    engine.all.clear();
  });

  it('leave a container alone that took the name and labels of one that is gone', async () => {
    const { id, made } = await running({ livesMs: 60_000 });
    const { name, labels } = engine.all.get(made!.id)!;
    engine.all.delete(made!.id);
    const copy = engine.put(name, labels);
    await leases.delete(id, '');
    await lookNow();
    await untilState(id, 'ended');
    expect(engine.all.get(copy.id)).toEqual(copy);
    engine.all.clear();
  });

  it('neither touch the recorded container nor count it as gone once it has another signature', async () => {
    const { id, made } = await running({ livesMs: 60_000 });
    const { labels } = engine.all.get(made!.id)!;
    engine.change(made!.id, { labels: { ...labels, 'mooring.signature': '0'.repeat(64) } });
    const before = engine.all.get(made!.id);
    await leases.delete(id, '');
    await lookNow();
    const { why } = await until(async () => {
      const lease = await leases.read(id);
      return lease.why !== 'deleted' && lease;
    }, 'an attempt failed');
    expect(why).toContain('not signed by this secret');
    expect(await leases.read(id)).toMatchObject({ state: 'ending' });
    expect(engine.all.get(made!.id)).toEqual(before);
    engine.all.clear();
  });

  it('are not over while a container removed unstarted may still be created again', async () => {
    const { id, image } = await leases.ask({ image: 'alpine', livesMs: 60_000 });
    const [, , number] = await repository.begin(id, 1_500);
    const spec = await context.get(FleetSignature).sign(id, image, number!);
    const unstarted = await engine.create(spec);
    await leases.delete(id, '');
    await lookNow();
    await until(() => !engine.all.has(unstarted.id), 'it is removed');
    await until(async () => (await repository.claim(id, 1)).word === 'later', 'it is postponed');
    expect(await statesOf(id)).toEqual(['ending']);
    const again = await engine.create(spec);
    await until(async () => {
      await lookNow();
      return (await leases.read(id)).state === 'ended';
    }, 'it has ended');
    expect(engine.all.has(again.id)).toBe(false);
  });

  it('keep their place while the container still exists after its removal', async () => {
    const { id } = await running({ livesMs: 60_000 });
    engine.remove = async () => undefined;
    await leases.delete(id, '');
    await lookNow();
    await until(async () => (await leases.read(id)).why?.includes('still there'), 'an attempt failed');
    expect(await repository.places()).toBe(1);
    engine.remove = (containerId) => Bench.prototype.remove.call(engine, containerId);
  });

  it('wait for a process with the engine that created them', async () => {
    const { id } = await running({ livesMs: 60_000 });
    engine.name = 'another';
    await sweep();
    expect(await leases.read(id)).toMatchObject({ state: 'running' });
    await leases.delete(id, '');
    await lookNow();
    await until(async () => (await repository.claim(id, 1)).word === 'later', 'it is postponed');
    expect(await leases.read(id)).toMatchObject({ state: 'ending', why: 'deleted' });
    expect(engine.all.size).toBe(1);
    engine.name = 'bench';
  });

  it('wait for another engine of that name; records without a place count as local', async () => {
    const { id, made } = await running({ livesMs: 60_000 });
    const madeIn = (engineName: string): Promise<number> =>
      app.redis.hset(`${repository.root}:lease:${id}`, 'engine', engineName);
    engine.at = 'here';
    await madeIn('bench@there');
    const [container] = engine.all.values();
    engine.all.clear();
    await sweep();
    expect(await leases.read(id)).toMatchObject({ state: 'running' });
    await leases.delete(id, '');
    await lookNow();
    await until(async () => (await repository.claim(id, 1)).word === 'later', 'it is postponed');

    engine.all.set(made!.id, container!);
    await madeIn('bench');
    await until(async () => {
      await lookNow();
      return (await leases.read(id)).state === 'ended';
    }, 'it has ended');
    expect(engine.all.size).toBe(0);
    engine.at = undefined;
  });

  it('need manual clean-up once no process has had their engine for long, and are released only by hand', async () => {
    const { id } = await running({ owner: 'trip:6' });
    engine.name = 'another';
    await leases.delete(id, '');
    const over = Number(await app.redis.zscore(`${repository.root}:until`, id));
    const attempt = async (): Promise<void> => {
      await app.redis.hset(`${repository.root}:lease:${id}`, 'next', 0);
      await context.get(LeaseReaper).end(id, new AbortController().signal);
    };
    for (let i = 0; i < 4; i += 1) await attempt();
    expect(await statesOf(id)).toEqual(['ending']);
    await app.redis.zadd(`${repository.root}:until`, over - 300_000, id);
    await expect(leases.release(id)).rejects.toMatchObject({ code: 'NOT_FOR_CLEANUP' });
    for (let i = 0; i < 4; i += 1) await attempt();
    expect(await leases.read(id)).toMatchObject({
      state: 'manual-cleanup',
      why: 'its engine is bench, which this process does not have',
    });
    expect(await repository.places()).toBe(1);

    // The container still exists, but cannot be removed.
    [engine.name, engine.isStuck] = ['bench', true];
    await sweep();
    await expect(leases.release(id)).rejects.toMatchObject({ code: 'NOT_FOR_CLEANUP' });
    [engine.name, engine.isStuck] = ['another', false];
    await sweep();
    expect(await leases.read(id)).toMatchObject({ state: 'manual-cleanup', why: 'it does not stop' });
    await leases.cleanUp(id);
    for (let i = 0; i < 4; i += 1) await attempt();
    expect(await leases.release(id)).toMatchObject({ state: 'ended', endedBy: 'deleted' });
    expect(await repository.places()).toBe(0);
    await lookNow();
    await until(async () => (await jobsOf('trip', '6')).length === 0, 'its owner no longer has it');
    engine.name = 'bench';
    engine.all.clear();
  });

  it('are reported once when given up, and their jobs end', async () => {
    const { id } = await running({ livesMs: 60_000 });
    engine.isStuck = true;
    await leases.delete(id, '');
    const reaper = context.get(LeaseReaper);
    for (let i = 0; i < 4; i += 1) {
      await app.redis.hset(`${repository.root}:lease:${id}`, 'next', 0);
      await reaper.end(id, new AbortController().signal);
    }
    expect(await statesOf(id)).toEqual(['manual-cleanup']);
    expect((await jobsOf('lease', id)).length).toBeGreaterThan(0);
    await lookNow();
    await until(async () => (await jobsOf('lease', id)).length === 0, 'its jobs are over');
    await until(
      async () => (await app.redis.zscore(`${repository.root}:due`, id)) === null,
      'it is postponed',
    );
    await sweep();
    await sweep();
    const said = app.facts.filter((fact) => JSON.stringify(fact).includes('lease.manual-cleanup'));
    expect(said).toHaveLength(1);
  });

  it('leave their remaining jobs to the reconciler, with the reason of their end', async () => {
    const { id, jobs } = await running({ owner: 'trip:7' });
    await leases.delete(id, '');
    const owners = context.get(Owners);
    const cancel = owners.cancel.bind(owners);
    owners.cancel = () => Promise.reject(new Error('not now'));
    // A job of the lease may be the one that ends it.
    expect(await context.get(LeaseReaper).end(id, new AbortController().signal)).toEqual({
      outcome: 'ended',
      state: 'ended',
    });
    expect(await jobsOf('lease', id)).toContain(jobs!.end);
    await lookNow();
    await until(() => tidied(id).length === 1, 'it was tried');
    expect(tidied(id)).toEqual(['failed']);
    owners.cancel = cancel;
    await until(async () => {
      await lookNow();
      return (await jobsOf('lease', id)).length === 0;
    }, 'its jobs are over');
    await until(() => tidied(id).at(-1) === 'done', 'it is logged');
  });

  it('count no container as gone while the engine does not answer', async () => {
    const { id } = await running({ livesMs: 60_000 });
    engine.isAway = true;
    expect(await sweep()).toMatchObject({
      state: 'failed',
      unknown: 1,
      removed: 0,
      why: 'The engine is away.',
    });
    expect(await leases.read(id)).toMatchObject({ state: 'running' });
  });

  it('end when their container has stopped or is gone; a dry run only reports it', async () => {
    const [stopped, gone, fine] = [await running({}), await running({}), await running({})];
    engine.change(stopped.made!.id, { running: false });
    engine.all.delete(gone.made!.id);
    expect(await sweep({ dryRun: true })).toMatchObject({ removed: 2 });
    expect(await statesOf(stopped.id, gone.id)).toEqual(['running', 'running']);
    // Three leases and two containers.
    expect(await sweep()).toMatchObject({ state: 'done', seen: 5, removed: 2, kept: 3, failed: 0 });
    expect(await statesOf(stopped.id, gone.id, fine.id)).toEqual(['ending', 'ending', 'running']);
    expect(await leases.read(stopped.id)).toMatchObject({
      endedBy: 'container-gone',
      why: 'its container has stopped',
    });
  });

  it('remove an own container without a lease when it is old enough, and none that only looks similar', async () => {
    const { id } = await running({});
    const signature = context.get(FleetSignature);
    const lost = await signature.sign(randomUUID(), 'alpine', '7');
    const before = Date.now() - OLD_MS;
    const old = engine.put(lost.name, lost.labels, before);
    const young = await signature.sign(randomUUID(), 'alpine', '8');
    engine.put(young.name, young.labels);
    engine.put('copied-labels', lost.labels, before);
    const forged = await signature.sign(randomUUID(), 'alpine', '9');
    engine.put(forged.name, { ...forged.labels, 'mooring.fence': '10' }, before);
    engine.put(`${forged.name}x`, { 'mooring.fleet': app.prefix }, before);
    const kept = [...engine.all.keys()].filter((one) => one !== old.id);

    expect(await sweep({ dryRun: true })).toMatchObject({ removed: 1 });
    expect(engine.all.has(old.id)).toBe(true);
    expect(await sweep()).toMatchObject({ state: 'done', removed: 1, failed: 0 });
    expect([...engine.all.keys()]).toEqual(kept);
    expect(await sweep({ force: true })).toMatchObject({ removed: 1 });
    expect([...engine.all.values()].map(({ name }) => name)).not.toContain(young.name);
    expect(await statesOf(id)).toEqual(['running']);
  });

  it('are swept concurrently, so that one slow engine call delays no other', async () => {
    const signature = context.get(FleetSignature);
    for (let i = 0; i < 20; i += 1) {
      const lost = await signature.sign(randomUUID(), 'alpine', String(i));
      engine.put(lost.name, lost.labels, Date.now() - OLD_MS);
    }
    let [underWay, most] = [0, 0];
    engine.stop = async () => {
      most = Math.max(most, (underWay += 1));
      await pause(10);
      underWay -= 1;
    };
    expect(await sweep({ force: true })).toMatchObject({ state: 'done', seen: 20, removed: 20 });
    expect(engine.all.size).toBe(0);
    expect(most).toBe(8);
  });

  it("keep their owner's job when sending the jobs again fails", async () => {
    const { id, jobs } = await running({ owner: 'trip:8' });
    const enqueuer = context.get(Enqueuer);
    const enqueue = enqueuer.enqueue.bind(enqueuer);
    enqueuer.enqueue = (kind, ...more) =>
      kind.name === provision.name ? Promise.reject(new Error('not now')) : enqueue(kind, ...more);
    const sending = context.get(LeaseJobs);
    await expect(sending.send(await leases.read(id))).rejects.toThrow('not now');
    expect(await jobsOf('trip', '8')).toContain(jobs!.moor);
    enqueuer.enqueue = enqueue;
  });

  it('are retried by each sweep after they were given up', async () => {
    const { id } = await running({});
    engine.isStuck = true;
    await closeOnly(id);
    for (let i = 0; i < 4; i += 1) {
      const claimed = await until(async () => {
        await app.redis.hset(`${repository.root}:lease:${id}`, 'next', 0);
        const one = await repository.claim(id, 1_000);
        return one.word === 'claimed' && one;
      }, 'it can be claimed');
      await repository.strike(id, claimed.claim, 'it does not stop');
    }
    expect(await leases.read(id)).toMatchObject({ state: 'manual-cleanup' });
    expect(await sweep()).toMatchObject({ failed: 1, removed: 0 });
    expect(await statesOf(id)).toEqual(['manual-cleanup']);
    engine.isStuck = false;
    expect(await sweep()).toMatchObject({ failed: 0, removed: 1 });
    expect(await statesOf(id)).toEqual(['ended']);
  });

  it('are cleaned up however long the messages of engines and callers are', async () => {
    const { id } = await running({ owner: 'trip:5' });
    const much = 'no '.repeat(5_000);
    await context.get(LeaseTerminator).close(id, 'owner', much);
    expect((await leases.read(id)).why!.length).toBeLessThanOrEqual(300);
    const claimed = await repository.claim(id, 1_000);
    if (claimed.word !== 'claimed') throw new Error(claimed.word);
    await repository.strike(id, claimed.claim, much);
    expect((await leases.read(id)).why!.length).toBeLessThanOrEqual(300);
    // A record of an older version.
    await app.redis.hset(`${repository.root}:lease:${id}`, 'why', much, 'next', 0);
    engine.all.clear();
    await lookNow();
    await untilState(id, 'ended');
    await lookNow();
    await until(async () => (await app.redis.zscore(`${repository.root}:due`, id)) === null, 'it is tidied');
    expect(await jobsOf('trip', '5')).toEqual([]);
  });

  it('tell which of them exist', async () => {
    const { id } = await running({});
    const gone = randomUUID();
    const resolver = context.get(LeaseOwnerResolver);
    expect(await resolver.resolve([id, gone, '42'], AbortSignal.timeout(1_000))).toEqual(
      new Map([
        [id, 'alive'],
        [gone, 'gone'],
        ['42', 'unknown'],
      ]),
    );
  });

  it.each([
    ['alpine', true],
    ['alpine:3.20', true],
    [`alpine@sha256:${'0'.repeat(64)}`, true],
    ['node:20', true],
    ['node:22', false],
    ['node', false],
    ['alpine:', false],
    ['Alpine', false],
    ['evil/alpine', false],
    ['alpine/evil', false],
    ['alpine:3@evil', false],
    ['../alpine', false],
  ])('the image %s may be leased: %s', async (image, may) => {
    const asked = leases.ask({ image, livesMs: 60_000 });
    if (may) expect(await asked).toMatchObject({ image });
    else await expect(asked).rejects.toMatchObject({ code: 'INVALID' });
  });

  function tidied(id: string): string[] {
    return app.facts
      .map((fact) => fact as unknown as { status: string; facts?: Record<string, unknown> })
      .filter(({ facts }) => facts?.['leaseId'] === id && facts['action'] === 'lease')
      .map(({ status }) => status);
  }

  /** A lease as its worker would leave it. */
  async function running(order: { livesMs?: number; owner?: string }) {
    const { id, image } = await leases.ask({ image: 'alpine', livesMs: 60_000, ...order });
    const [, , number] = await repository.begin(id, 1_000);
    const signature = context.get(FleetSignature);
    const { createdAt, id: container } = await engine.create(await signature.sign(id, image, number!));
    await repository.attach(id, { id: container, createdAt, engine: engine.name });
    return leases.read(id);
  }

  async function closeOnly(id: string): Promise<void> {
    expect((await repository.close(id, 'deleted', 'deleted'))[0]).toBe('closed');
  }

  /** Makes all leases due and checks them. */
  async function lookNow(): Promise<void> {
    const due = `${repository.root}:due`;
    for (const id of await app.redis.zrange(due, '0', '-1')) await app.redis.zadd(due, 'XX', 1, id);
    await context.get(LeaseReconciler).reconcileOnce();
  }

  async function sweep(order: SweepOrder = {}): Promise<SweepRecord> {
    return (await context.get(Sweeper).sweep('leases', order))!;
  }

  async function statesOf(...ids: string[]): Promise<(string | null)[]> {
    return repository.states(ids);
  }

  async function jobsOf(type: string, id: string): Promise<string[]> {
    const { jobs } = await context.get(OwnerReader).read(owner(type, id));
    return jobs.map((job) => job.id);
  }

  function untilState(id: string, state: string): Promise<unknown> {
    return until(async () => (await leases.read(id)).state === state, `it is ${state}`);
  }
});
