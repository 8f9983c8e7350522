import 'reflect-metadata';
import { Processor } from '@nestjs/bullmq';
import type { INestApplicationContext } from '@nestjs/common';
import type { Job } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isGone } from '../../../../test/support/is-gone.js';
import { KindApp } from '../../../../test/support/kind-app.js';
import { until } from '../../../../test/support/until.js';
import { Enqueuer } from '../enqueue/enqueuer.js';
import { QueueRegistry } from '../enqueue/queue-registry.js';
import { defineKind, type Kind, type KindOptions } from '../kinds/kind.js';
import { KindProcessor } from './kind-processor.js';

const SANDBOX = new URL('../../../../test/support/odd.sandbox.mjs', import.meta.url);

@Processor('renders', { concurrency: 5 })
class Renders extends KindProcessor {}

describe('a sandboxed run', () => {
  let app: KindApp;
  let kind: Kind;
  let context: INestApplicationContext;

  beforeEach(() => {
    app = new KindApp();
  });

  afterEach(() => app.stop());

  async function start(options: Partial<KindOptions<z.ZodAny>> = {}): Promise<void> {
    kind = defineKind({
      name: 'thing.render',
      queue: 'renders',
      payload: z.any(),
      sandbox: SANDBOX,
      ...options,
    });
    context = await app.start([kind], [Renders]);
  }

  const enqueue = async (payload: object): Promise<string> =>
    (await context.get(Enqueuer).enqueue(kind, payload, { owners: ['trip:42'] })).id;
  const read = async (id: string): Promise<Job | undefined> =>
    context.get(QueueRegistry).get('renders').getJob(id);
  const ended = (id: string) =>
    until(async () => {
      const job = await read(id);
      return job?.finishedOn !== undefined && job;
    }, `${id} has ended`);
  const pidsOf = (id: string) =>
    until(async () => {
      const { progress } = (await read(id))!;
      return typeof progress === 'object' && Object.values(progress as Record<string, number>);
    }, `${id} runs`);

  it('does its job, reports its progress, and knows its run', async () => {
    await start();
    const told = await ended(await enqueue({ do: 'tell' }));
    const described = await ended(await enqueue({ do: 'describe' }));

    expect([told.returnvalue, told.progress]).toEqual(['told', { done: 100 }]);
    expect(described.returnvalue).toMatchObject({
      run: {
        kind: 'thing.render',
        attempt: 1,
        fence: 1,
        owners: [{ type: 'trip', id: '42' }],
        isAborted: false,
      },
    });
  });

  it('that never yields is killed when its timeout and its grace are over, and holds its slot until then', async () => {
    await start({ timeout: '2s', grace: '200ms', slot: () => ({ key: 'one', limit: 1 }) });
    const id = await enqueue({ do: 'spawn', next: 'busy' });
    const pids = await pidsOf(id);
    const next = await enqueue({ do: 'isThere', pid: pids[0] });

    expect((await ended(id)).failedReason).toContain('took longer than');
    expect((await ended(next)).returnvalue).toBe(false);
    await until(() => pids.every(isGone), 'what it started is gone');
  });

  it('of a cancelled owner is killed when it does not stop', async () => {
    await start({ attempts: 5, grace: '200ms' });
    const id = await enqueue({ do: 'busy' });
    const [pid] = await pidsOf(id);

    const { done } = await app.owners.cancel('trip:42', { wait: 'drained' });

    expect([done, isGone(pid!), await read(id)]).toEqual([true, true, undefined]);
  });

  it.each([
    [{ do: 'exit', code: 3 }, 2, 'The sandbox of thing.render ended by itself: exit code 3.'],
    [{ do: 'fail' }, 2, 'Too odd.'],
    [{ do: 'giveUp' }, 1, 'Never again.'],
  ])('that ends with %j has failed, after as many attempts as may help', async (payload, attempts, why) => {
    await start({ attempts: 2 });

    const job = await ended(await enqueue(payload));

    expect([job.attemptsMade, job.failedReason]).toEqual([attempts, expect.stringContaining(why)]);
  });

  it('may send invalid messages', async () => {
    await start();

    expect((await ended(await enqueue({ do: 'babble' }))).returnvalue).toBe('said');
  });
});
