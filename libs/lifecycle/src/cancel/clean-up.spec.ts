import { Injectable } from '@nestjs/common';
import { Worker } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { LifecycleApp } from '../../../../test/support/lifecycle-app.js';
import { until } from '../../../../test/support/until.js';
import { Enqueuer } from '../enqueue/enqueuer.js';
import { Flows, type FlowTicket } from '../flows/flows.js';
import type { Flow } from '../flows/flow.js';
import { Removals, type Removal } from '../history/removals.js';
import { Keys } from '../keys.js';
import { defineKind, type Kind, type Payload } from '../kinds/kind.js';
import { owner, type Owner } from '../kinds/owner.js';
import { queuePrefix } from '../queues.js';
import { JobReader } from '../read/job.reader.js';
import { Handler, Handles } from '../run/handler.js';
import type { Run } from '../run/run.js';
import { Schedules } from '../schedules/schedules.js';
import { Canceller } from './canceller.js';
import { JobRemoval } from './job.removal.js';

const busy = defineKind({
  name: 'busy',
  queue: 'busy',
  payload: z.object({ ms: z.number().default(60_000) }),
});
const broken = defineKind({ name: 'broken', queue: 'broken', payload: z.any() });
const top = defineKind({ name: 'top', queue: 'tops', payload: z.any() });
/** Of these nobody here runs any. */
const parked = defineKind({ name: 'parked', queue: 'parked', payload: z.any() });

const SHIP = owner('ship', '1');
const DOCK = owner('dock', '9');
const WRECK = owner('wreck', '3');
const LOCK_MS = 2_000;

/** What a run that was told to stop waits for before it does. */
let obeying = Promise.resolve();

@Injectable()
@Handles(busy)
class BusyHandler extends Handler<typeof busy> {
  handle({ ms }: Payload<typeof busy>, run: Run): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, ms);
      run.signal.addEventListener('abort', () => {
        clearTimeout(timer);
        void obeying.then(() => reject(run.signal.reason as Error));
      });
    });
  }
}

@Injectable()
@Handles(broken)
class BrokenHandler extends Handler<typeof broken> {
  handle(): Promise<never> {
    return Promise.reject(new Error('It broke.'));
  }
}

@Injectable()
@Handles(top)
class TopHandler extends Handler<typeof top> {
  handle(): Promise<void> {
    return Promise.resolve();
  }
}

describe('what a cancel ends', () => {
  let app: LifecycleApp;
  beforeEach(async () => {
    app = await LifecycleApp.start([busy, broken, top, parked], [BusyHandler, BrokenHandler, TopHandler], {
      kinds: ['busy', 'broken', 'top'],
      concurrency: 2,
      lockMs: LOCK_MS,
    });
  });
  afterEach(() => app.stop());

  it('is counted and told once each, also what the gate refuses before the clean-up comes to it', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 6; i += 1) ids.push(await enqueue(busy, [SHIP]));
    await until(() => began(ids).length === 2, 'two run');
    const removal = app.context.get(JobRemoval);
    const removeAll = removal.removeAll.bind(removal);
    removal.removeAll = async (...args) => {
      await until(async () => (await states(ids)).every((state) => state === 'cancelled'), 'all are refused');
      return removeAll(...args);
    };
    expect(await cancel(SHIP)).toMatchObject({
      removed: 4,
      aborted: 2,
      acknowledged: 2,
      byQueue: { busy: { removed: { refused: 4 }, aborted: 2 } },
      done: true,
    });
    const refused = ids.filter((id) => !began(ids).includes(id));
    expect((await history(SHIP)).map(({ id, state }) => `${state} ${id}`).toSorted()).toEqual(
      refused.map((id) => `refused ${id}`).toSorted(),
    );
    expect(skipped(ids).toSorted()).toEqual(ids.toSorted());
  });

  it('is told to others when it is removed, and stands in the history of each of its owners', async () => {
    const id = await enqueue(parked, [DOCK, SHIP]);
    expect(await cancel(SHIP)).toMatchObject({ removed: 1, done: true });
    const [lines, others] = [await history(SHIP), await history(DOCK)];
    expect(lines).toMatchObject([{ id, state: 'waiting', why: 'cancelled', reason: 'over' }]);
    expect(others).toEqual(lines);
    expect(app.facts.filter(({ event }) => event === 'job.skipped')).toEqual([
      {
        event: 'job.skipped',
        queue: 'parked',
        kind: 'parked',
        jobId: id,
        owner: 'dock:9',
        endedAs: 'cancelled',
        why: 'over',
        by: 'clean-up',
      },
    ]);
  });

  it.each([
    ['with its owner', (_id: string) => cancel(DOCK)],
    ['alone', (id: string) => cancelJob(id)],
  ])('is counted also as the child of a parent that lives (%s)', async (_how, end) => {
    const before = [await enqueue(busy, [WRECK]), await enqueue(busy, [WRECK])];
    await until(() => began(before).length === 2, 'no place is free');
    const flow = await add({
      kind: top,
      owners: [SHIP],
      children: [{ kind: busy, payload: {}, owners: [DOCK] }],
    });
    const { id } = flow.children[0]!;
    const receipt = end(id);
    await until(() => app.redis.exists(`${recordOf(DOCK)}:cancels`), 'it is over');
    await cancel(WRECK);
    expect(await receipt).toMatchObject({
      removed: 1,
      byQueue: { busy: { removed: { refused: 1 } } },
      done: true,
    });
    expect(await history(DOCK)).toMatchObject([{ id, state: 'refused' }]);
    await until(async () => (await states([flow.id]))[0] === 'failed', 'its parent failed');
  });

  it('needs no worker for the children of a parent that has failed', async () => {
    const flow = await add({
      kind: top,
      owners: [SHIP],
      children: [
        { kind: broken, payload: {} },
        { kind: parked, payload: {}, owners: [DOCK] },
      ],
    });
    await until(async () => (await states([flow.id]))[0] === 'failed', 'the parent failed');
    expect(await cancel(DOCK)).toMatchObject({
      removed: 1,
      byQueue: { parked: { removed: { waiting: 1 } } },
      done: true,
    });
  });

  it('takes along what is below it in its flow, of the same owner', async () => {
    const flow = await add({
      kind: top,
      owners: [SHIP],
      children: [
        {
          kind: top,
          children: [
            { kind: busy, payload: {} },
            { kind: parked, payload: {} },
          ],
        },
        {
          kind: parked,
          payload: {},
          owners: [DOCK],
          children: [{ kind: parked, payload: {}, owners: [SHIP] }],
        },
      ],
    });
    const [middle, foreign] = flow.children as [FlowTicket, FlowTicket];
    const [runs, waits] = middle.children as [FlowTicket, FlowTicket];
    const bystander = await enqueue(parked, [SHIP]);
    await until(() => began([runs.id]).length === 1, 'one runs');

    // Once it has ended, those above it have failed of it: they are to be removed before.
    let obey!: () => void;
    obeying = new Promise((resolve) => (obey = resolve));
    const receipt = cancelJob(flow.id);
    await until(async () => (await states([middle.id]))[0] === 'removed', 'what is above it is gone');
    obey();
    expect(await receipt).toMatchObject({ job: flow.id, aborted: 1, acknowledged: 1, removed: 3 });
    expect(await states([flow.id, middle.id, runs.id, waits.id])).toEqual([
      'removed',
      'removed',
      'cancelled',
      'removed',
    ]);
    expect(await states([foreign.id, foreign.children[0]!.id, bystander])).toEqual([
      'waiting',
      'waiting',
      'waiting',
    ]);
    await Promise.all([cancel(SHIP), cancel(DOCK)]);
  });

  it('is removed also when its worker died before it came to the gate', async () => {
    const id = await enqueue(parked, [SHIP]);
    const dead = new Worker('parked', null, {
      connection: app.redis,
      prefix: queuePrefix(app.prefix),
      autorun: false,
      lockDuration: 500,
    });
    expect(await dead.getNextJob('dead')).toMatchObject({ id });
    await dead.close(true);
    const receipt = await cancel(SHIP);
    expect(receipt).toMatchObject({
      removed: 1,
      byQueue: { parked: { removed: { running: 1 } } },
      done: true,
    });
    const counted = new Keys(app.prefix).queue('parked');
    await until(async () => (await app.redis.hget(counted, 'n')) === '0', 'it waits no more');
  });

  it('is its schedules too, each counted and remembered once', async () => {
    const every = { owners: [SHIP], payload: {}, every: '1h' } as const;
    for (const id of ['nightly', 'daily']) await app.context.get(Schedules).put(id, parked, every);
    const receipt = await cancel(SHIP);
    expect(receipt).toMatchObject({ removed: 0, schedules: 2, byQueue: {}, done: true });
    expect((await history(SHIP)).toSorted((a, b) => a.id.localeCompare(b.id))).toEqual(
      ['daily', 'nightly'].map((id) => ({
        id,
        queue: 'parked',
        kind: 'parked',
        owners: ['ship:1'],
        state: 'schedule',
        at: expect.any(String) as string,
        why: 'cancelled',
        reason: 'over',
        by: 'test',
        cancelId: receipt.cancelId,
      })),
    );
  });

  it('goes before the end of larger ones', async () => {
    const large = ['1', '2', '3', '4'].map((id) => owner('fleet', id));
    await Promise.all(large.flatMap((one) => Array.from({ length: 101 }, () => enqueue(parked, [one]))));
    await enqueue(parked, [SHIP]);
    const removal = app.context.get(JobRemoval);
    const removeAll = removal.removeAll.bind(removal);
    const order: string[] = [];
    let letGo!: () => void;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    removal.removeAll = async (places, cancelled) => {
      order.push(cancelled.receipt.owner);
      await held;
      return removeAll(places, cancelled);
    };
    const cancels = large.map((one) => cancel(one));
    await until(() => order.length === large.length, 'each has its turn');
    const small = cancel(SHIP);
    await until(
      async () => (await app.redis.zcard(`${app.prefix}:{cancels}`)) === 5,
      'one more is cancelled',
    );
    await until(async () => (await app.redis.hget(recordOf(SHIP), 's')) === 'closed', 'it has ended');
    letGo();
    expect(await small).toMatchObject({ removed: 1, done: true });
    for (const receipt of await Promise.all(cancels))
      expect(receipt).toMatchObject({ removed: 101, done: true });
    // Which of the larger ones goes on first is of no matter.
    expect(order.at(-1)).toMatch(/^fleet:/);
  });

  async function enqueue(kind: Kind, owners: readonly Owner[]): Promise<string> {
    return (await app.context.get(Enqueuer).enqueue(kind, {}, { owners })).id;
  }

  function add(flow: Flow): Promise<FlowTicket> {
    return app.context.get(Flows).add(flow);
  }

  function cancel(of: Owner): ReturnType<Canceller['cancel']> {
    const how = { reason: 'over', by: 'test', wait: 'drained', waitFor: '20s' } as const;
    return app.context.get(Canceller).cancel(of, how);
  }

  async function cancelJob(id: string): ReturnType<Canceller['cancel']> {
    const how = { reason: 'over', wait: 'drained', waitFor: '3s' } as const;
    return (await app.context.get(Canceller).cancelJob(id, how))!;
  }

  function recordOf(of: Owner): string {
    return new Keys(app.prefix).owner(of);
  }

  async function history(of: Owner): Promise<readonly Removal[]> {
    return (await app.context.get(Removals).ofOwner(of)).entries;
  }

  async function states(ids: readonly string[]): Promise<(string | undefined)[]> {
    return Promise.all(ids.map(async (id) => (await app.context.get(JobReader).read(id))?.state));
  }

  function began(ids: readonly string[]): string[] {
    return ids.filter((id) => app.factsOf(id).includes('job.began'));
  }

  /** Of whom it was said that they were not done, each as often as it was. */
  function skipped(ids: readonly string[]): string[] {
    return app.facts.flatMap((fact) =>
      fact.event === 'job.skipped' && ids.includes(fact.jobId) ? [fact.jobId] : [],
    );
  }
});
