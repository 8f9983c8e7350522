import { Injectable } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { cancelByScript, recordOf } from '../../../../test/support/cancel-door.js';
import { LifecycleApp } from '../../../../test/support/lifecycle-app.js';
import { until } from '../../../../test/support/until.js';
import { DepthCensus } from '../enqueue/depth.census.js';
import { Reservations } from '../enqueue/reservation.js';
import { QueueFullError } from '../errors.js';
import { defineKind, type Payload } from '../kinds/kind.js';
import { Keys } from '../keys.js';
import { owner } from '../kinds/owner.js';
import { Queues } from '../queues.js';
import { JobReader, type JobView } from '../read/job.reader.js';
import { Handler, Handles } from '../run/handler.js';
import type { Run } from '../run/run.js';
import type { ChildOutcome } from './children.js';
import { Flows, type FlowTicket } from './flows.js';
import type { Flow } from './flow.js';

const part = defineKind({
  name: 'part',
  queue: 'parts',
  payload: z.object({ fails: z.boolean().default(false) }),
});
const tight = defineKind({ name: 'tight', queue: 'parts', payload: z.any(), maxPerOwner: 2 });
const inLine = defineKind({
  name: 'in-line',
  queue: 'parts',
  payload: z.object({ key: z.string().default('crane') }),
  slot: ({ key }) => ({ key, limit: 1 }),
});
const whole = defineKind({ name: 'whole', queue: 'wholes', payload: z.any(), attempts: 2 });

@Injectable()
@Handles(part)
class PartHandler extends Handler<typeof part> {
  async handle({ fails }: Payload<typeof part>, run: Run): Promise<string> {
    if (fails) throw new Error('It broke.');
    return `made of ${run.id}`;
  }
}

@Handles(tight)
class TightHandler extends PartHandler {}

@Handles(inLine)
class InLineHandler extends PartHandler {}

@Injectable()
@Handles(whole)
class WholeHandler extends Handler<typeof whole> {
  handle(_payload: unknown, run: Run): Promise<readonly ChildOutcome[]> {
    return run.children();
  }
}

const OWNERS = [owner('ship', '1')];

describe('flows', () => {
  let app: LifecycleApp;
  beforeEach(async () => {
    app = await LifecycleApp.start(
      [part, tight, inLine, whole],
      [PartHandler, TightHandler, InLineHandler, WholeHandler],
    );
  });
  afterEach(() => app.stop());

  const add = (flow: Flow): Promise<FlowTicket> => app.context.get(Flows).add(flow);
  const ended = (id: string): Promise<JobView> =>
    until(async () => {
      const job = await app.context.get(JobReader).read(id);
      return job && (job.state === 'completed' || job.state === 'failed') && job;
    }, `${id} has ended`);
  const counted = async (queue: string): Promise<number> =>
    Number(await app.redis.hget(`${app.prefix}:{queue:${queue}}`, 'n'));
  const jobsOf = async (text: string): Promise<string[]> =>
    (await app.redis.hkeys(recordOf(app.prefix, text))).filter((field) => field.startsWith('j'));
  const queueOf = (name: string): Queue => app.context.get(Queues).get(name);

  it('tell a parent what became of its children, in the order in which they were named', async () => {
    const flow = await add({
      kind: whole,
      owners: OWNERS,
      onChildFailure: 'ignore',
      children: [
        { kind: part, payload: {} },
        { kind: part, payload: { fails: true } },
        { kind: part, payload: {}, owners: [owner('dock', '9')] },
        { kind: whole },
      ],
    });
    const ids = flow.children.map(({ id }) => id);
    expect((await ended(flow.id)).result).toEqual([
      { id: ids[0], kind: 'part', state: 'completed', result: `made of ${ids[0]}` },
      { id: ids[1], kind: 'part', state: 'failed', error: 'It broke.' },
      { id: ids[2], kind: 'part', state: 'completed', result: `made of ${ids[2]}` },
      { id: ids[3], kind: 'whole', state: 'completed', result: [] },
    ]);
    expect(app.factsOf(flow.id)).toEqual(['job.accepted', 'job.began', 'job.completed']);
  });

  it('tell a parent that continues which of its children have not ended, and how one was cancelled', async () => {
    const parts = queueOf('parts');
    await parts.pause();
    const flow = await add({
      kind: whole,
      owners: OWNERS,
      onChildFailure: 'continue',
      children: [
        { kind: part, payload: {}, owners: [owner('dock', 'gone')] },
        { kind: whole },
        { kind: part, payload: {} },
      ],
    });
    await ended(flow.children[1]!.id);
    await cancelByScript(app.redis, app.prefix, 'dock:gone');
    // It is the first to come to its turn, so the other part has not ended when its parent starts.
    await parts.setGlobalConcurrency(1);
    await parts.resume();
    const { result } = await ended(flow.id);
    expect(result).toMatchObject([
      { state: 'cancelled', error: 'its owner was cancelled' },
      { state: 'completed' },
      { state: expect.stringMatching(/^(pending|completed)$/) as string },
    ]);
  });

  it('count among what waits, parents too, and not longer', async () => {
    const wholes = queueOf('wholes');
    const parts = queueOf('parts');
    await Promise.all([parts.pause(), wholes.pause()]);
    const child: Flow = { kind: part, payload: { fails: true } };
    const flows = await Promise.all(
      (['fail', 'continue', 'ignore'] as const).map((onChildFailure) =>
        add({
          kind: whole,
          owners: OWNERS,
          onChildFailure,
          children: [{ kind: whole, children: [child] }, child, { kind: part, payload: {} }],
        }),
      ),
    );
    expect([await counted('wholes'), await counted('parts')]).toEqual([6, 9]);
    expect(await lookOften()).toEqual([]);

    await Promise.all([parts.resume(), wholes.resume()]);
    await Promise.all(flows.flatMap(({ id, children }) => [id, ...children.map((one) => one.id)]).map(ended));
    await noneIsCounted();
    expect(await lookOften()).toEqual([]);
  });

  it('are refused as a whole when one of their jobs is one too many for its owner', async () => {
    const children = Array.from({ length: 3 }, () => ({ kind: tight, owners: [owner('dock', '1')] }));
    await expect(add({ kind: whole, owners: OWNERS, children })).rejects.toThrow(QueueFullError);
    await noneIsCounted();
    expect([await jobsOf('ship:1'), await jobsOf('dock:1')]).toEqual([[], []]);
  });

  it('leave nothing with their owners, or in line, when one of their jobs gets no place in line', async () => {
    const keys = new Keys(app.prefix);
    const line = `${keys.slot('crane')}:waiters`;
    await app.redis.set(line, 'of a wrong type');
    const children: Flow[] = [
      { kind: inLine, payload: {} },
      { kind: inLine, payload: { key: 'hoist' } },
      { kind: part, payload: {}, owners: [owner('dock', '1')] },
    ];
    await expect(add({ kind: whole, owners: OWNERS, children })).rejects.toThrow(/WRONGTYPE/);
    await noneIsCounted();
    expect([await jobsOf('ship:1'), await jobsOf('dock:1')]).toEqual([[], []]);
    expect(await app.redis.exists(`${keys.slot('hoist')}:waiters`)).toBe(0);
    await app.redis.unlink(line);
  });

  it('belong to one generation of an owner, though it is cancelled while they are accepted', async () => {
    const reservations = app.context.get(Reservations);
    const reserve = reservations.reserve.bind(reservations);
    let cancels = 0;
    reservations.reserve = async (...args) => {
      const reservation = await reserve(...args);
      if (cancels < 2) {
        cancels += 1;
        await cancelByScript(app.redis, app.prefix, 'ship:1');
      }
      return reservation;
    };
    const children: Flow[] = [
      { kind: part, payload: {} },
      { kind: part, payload: {}, owners: [owner('dock', '1'), owner('ship', '1')] },
    ];
    const flow = await add({ kind: whole, owners: OWNERS, children });
    expect(cancels).toBe(2);
    expect(await ended(flow.id)).toMatchObject({ state: 'completed', attempts: 1 });
  });

  it('leave the line for a slot to those that can take it', async () => {
    const parts = queueOf('parts');
    await parts.pause();
    const crane = (...children: Flow[]): Flow => ({ kind: inLine, payload: {}, owners: OWNERS, children });
    const flow = await add(crane(crane(crane()), crane()));
    const [first, second] = [flow.children[0]!.children[0]!.id, flow.children[1]!.id];
    const line = `${new Keys(app.prefix).slot('crane')}:waiters`;
    expect(await app.redis.zrange(line, '0', '-1')).toEqual([first, second]);
    await parts.resume();
    expect(await ended(flow.id)).toMatchObject({ state: 'completed', attempts: 1 });
  });

  const noneIsCounted = (): Promise<boolean> =>
    until(async () => (await counted('wholes')) === 0 && (await counted('parts')) === 0, 'none is counted');

  /** What three looks in a row agree on would be mended. */
  async function lookOften(): Promise<unknown[]> {
    const census = app.context.get(DepthCensus);
    return [...(await census.look()), ...(await census.look()), ...(await census.look())];
  }
});
