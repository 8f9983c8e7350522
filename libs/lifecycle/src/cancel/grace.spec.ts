import { Injectable } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { LifecycleApp } from '../../../../test/support/lifecycle-app.js';
import { until } from '../../../../test/support/until.js';
import { Enqueuer } from '../enqueue/enqueuer.js';
import { defineKind } from '../kinds/kind.js';
import { owner } from '../kinds/owner.js';
import { Handler, Handles } from '../run/handler.js';
import { Canceller } from './canceller.js';

const LOCK_MS = 2_000;
const deaf = defineKind({
  name: 'deaf',
  queue: 'deaf',
  payload: z.object({ ms: z.number() }),
  grace: '30s',
  slot: () => ({ key: 'crane', limit: 1 }),
});

const spans: { from: number; to: number }[] = [];

@Handles(deaf)
@Injectable()
class DeafHandler extends Handler<typeof deaf> {
  async handle({ ms }: { ms: number }): Promise<void> {
    const from = performance.now();
    const span = { from, to: Infinity };
    spans.push(span);
    await pause(ms);
    span.to = performance.now();
  }
}

it('a cancelled run keeps its slot in its grace, also when that is longer than its lease', async () => {
  const app = await LifecycleApp.start([deaf], [DeafHandler], { lockMs: LOCK_MS });
  const enqueue = (ms: number, of: string): Promise<unknown> =>
    app.context.get(Enqueuer).enqueue(deaf, { ms }, { owners: [owner('trip', of)] });
  await enqueue(4 * LOCK_MS, 'off');
  await until(() => spans.length === 1, 'it runs');
  await enqueue(1, 'next');
  const receipt = await app.context.get(Canceller).cancel(owner('trip', 'off'), { wait: 'drained' });
  expect(receipt).toMatchObject({ aborted: 1, acknowledged: 1, done: true });
  await until(() => spans[1]?.to !== undefined && spans[1].to < Infinity, 'the next has run');
  expect(spans[1]!.from).toBeGreaterThanOrEqual(spans[0]!.to);
  await app.stop();
});
