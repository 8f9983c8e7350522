import { Injectable } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { recordOf } from '../../../../test/support/cancel-door.js';
import { LifecycleApp } from '../../../../test/support/lifecycle-app.js';
import { until } from '../../../../test/support/until.js';
import { Canceller } from '../cancel/canceller.js';
import { Enqueuer } from '../enqueue/enqueuer.js';
import { defineKind } from '../kinds/kind.js';
import { owner } from '../kinds/owner.js';
import { JobReader } from '../read/job.reader.js';
import { Handler, Handles } from './handler.js';
import type { Run } from './run.js';
import { OwnerCancelled } from './stop-reasons.js';

const long = defineKind({ name: 'long', queue: 'long', payload: z.object({}) });

describe('what workers are told of cancels', () => {
  let app: LifecycleApp;
  let runs: Map<string, Run>;
  let finish: () => void;
  beforeEach(async () => {
    const begun = (runs = new Map<string, Run>());
    const finished = new Promise<void>((resolve) => (finish = resolve));
    @Injectable()
    @Handles(long)
    class LongHandler extends Handler<typeof long> {
      handle(_: object, run: Run): Promise<void> {
        begun.set(run.id, run);
        return new Promise((resolve, reject) => {
          void finished.then(resolve);
          run.signal.addEventListener('abort', () => reject(run.signal.reason as Error));
        });
      }
    }
    // So long a lease that nobody hears of anything when it is renewed.
    app = await LifecycleApp.start([long], [LongHandler], { lockMs: 120_000, concurrency: 3 });
  });
  afterEach(() => app.stop());

  it('stops nothing of which the record of its owner says nothing (A16)', async () => {
    const [meant, alone, cancelled] = [await begin('42'), await begin('43'), await begin('44')];
    await forge('trip:42', '9'.repeat(18), '');
    await forge('trip:43', '0', alone);
    await app.context.get(Canceller).cancel(owner('trip', '44'));
    await until(() => runs.get(cancelled)!.signal.aborted, 'what was told later is done');
    expect(runs.get(cancelled)!.signal.reason).toBeInstanceOf(OwnerCancelled);

    finish();
    for (const id of [meant, alone])
      await until(async () => (await view(id))?.state === 'completed', 'it goes on to its end');
    await until(async () => (await view(cancelled))?.state === 'cancelled', 'it was cancelled');
  });

  async function begin(trip: string): Promise<string> {
    const { id } = await app.context.get(Enqueuer).enqueue(long, {}, { owners: [owner('trip', trip)] });
    await until(() => runs.has(id), 'it runs');
    return id;
  }

  /** What a cancel tells, without one. */
  async function forge(of: string, epoch: string, job: string): Promise<void> {
    const stream = `${app.prefix}:{cancels}:told`;
    await app.redis.xadd(stream, '*', 'o', recordOf(app.prefix, of), 'e', epoch, 'j', job);
  }

  function view(id: string): Promise<{ state: string } | undefined> {
    return app.context.get(JobReader).read(id);
  }
});
