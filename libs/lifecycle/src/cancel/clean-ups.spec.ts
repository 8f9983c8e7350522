import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { recordOf } from '../../../../test/support/cancel-door.js';
import { LifecycleApp } from '../../../../test/support/lifecycle-app.js';
import { until } from '../../../../test/support/until.js';
import { CLOSED_KEEP_MS, digest } from '../keys.js';
import { LIFECYCLE_DEFAULTS } from '../options.js';
import { owner } from '../kinds/owner.js';
import { runScript } from '../scripts.js';
import { Canceller } from './canceller.js';
import { CleanUp } from './clean-up.js';
import { CleanUps } from './clean-ups.js';
import { readOrder } from './order.js';
import { aboutOf } from './receipts.js';

const TRIP = 'trip:42';
const ORDER = readOrder(TRIP, undefined, { cancelId: 'c-1' });
const ID = digest('c-1');

describe('a cancel and whoever looks for those of the dead', () => {
  let app: LifecycleApp;
  let cancels: string;

  beforeEach(async () => {
    // Nobody looks by the clock.
    const more = { worker: undefined, cleanUpEveryMs: 600_000 } as never;
    app = await LifecycleApp.start([], [], undefined, undefined, undefined, more);
    cancels = `${app.prefix}:{cancels}`;
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await app.stop();
  });

  const isListed = async (): Promise<boolean> => (await app.redis.zscore(cancels, ID)) !== null;
  const resume = async (): Promise<number> => {
    await app.redis.zadd(cancels, 'XX', 1, ID);
    return app.context.get(CleanUps).resume();
  };

  it('comes to be while it is looked at, and its caller dies: the next look takes it up', async () => {
    await app.context.get(CleanUps).intend(ORDER);
    const cleanUp = app.context.get(CleanUp);
    const isPending = cleanUp.isPending.bind(cleanUp);
    cleanUp.isPending = async (target) => {
      cleanUp.isPending = isPending;
      const was = await isPending(target);
      const about = JSON.stringify(aboutOf(ORDER));
      const args = ['', ID, 0, TRIP, '', '', LIFECYCLE_DEFAULTS.receiptKeepMs, CLOSED_KEEP_MS, '', '', about];
      await runScript(app.redis, 'cancel', [recordOf(app.prefix, TRIP)], args);
      return was;
    };
    expect(await resume()).toBe(0);
    expect(await isListed()).toBe(true);
    expect(await resume()).toBe(1);
    await until(async () => !(await isListed()), 'it is at its end');
    expect(await app.context.get(Canceller).receipt('c-1')).toMatchObject({ done: true });
  });

  it('its caller is suspended before it, so that others forget it: it is looked for again', async () => {
    const cleanUps = app.context.get(CleanUps);
    const intend = cleanUps.intend.bind(cleanUps);
    const now = performance.now.bind(performance);
    cleanUps.intend = async (target) => {
      cleanUps.intend = intend;
      const isMeant = await intend(target);
      await app.redis.unlink(cancels, `${cancels}:${ID}`);
      vi.spyOn(performance, 'now').mockImplementation(() => now() + 61_000);
      return isMeant;
    };
    const cleanUp = app.context.get(CleanUp);
    const pass = cleanUp.pass.bind(cleanUp);
    let wasListed = false;
    cleanUp.pass = async (...args) => {
      cleanUp.pass = pass;
      wasListed = await until(isListed, 'it is listed again', 2_000).catch(() => false);
      return pass(...args);
    };
    const done = await app.context.get(Canceller).cancel(owner('trip', '42'), {
      cancelId: 'c-1',
      wait: 'drained',
    });
    expect(done).toMatchObject({ done: true });
    expect(wasListed).toBe(true);
    await until(async () => !(await isListed()), 'it is at its end');
    expect(await app.context.get(Canceller).receipt('c-1')).toMatchObject({ done: true });
  });
});
