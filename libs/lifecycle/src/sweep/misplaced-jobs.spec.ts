import { Injectable } from '@nestjs/common';
import { Queue } from 'bullmq';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { LifecycleApp } from '../../../../test/support/lifecycle-app.js';
import { until } from '../../../../test/support/until.js';
import { Canceller } from '../cancel/canceller.js';
import { Enqueuer } from '../enqueue/enqueuer.js';
import { MISPLACED_KEEP_MS } from '../keys.js';
import { newJobId, queueOfJobId } from '../kinds/ids.js';
import { defineKind, type Kind } from '../kinds/kind.js';
import { owner } from '../kinds/owner.js';
import { queuePrefix } from '../queues.js';
import { JobReader } from '../read/job.reader.js';
import { Handler, Handles } from '../run/handler.js';
import { SweepBook } from './sweep.book.js';
import { KEY_WORDS } from './misplaced-jobs.js';
import { Sweeper } from './sweeper.js';

const stored = defineKind({ name: 'stored', queue: 'stored', payload: z.any() });
const done = defineKind({ name: 'done', queue: 'done', payload: z.any() });
const TRIP = owner('trip', '42');

@Injectable()
@Handles(done)
class DoneHandler extends Handler<typeof done> {
  handle(): Promise<string> {
    return Promise.resolve('well');
  }
}

describe('a job of another program with the id of a key of BullMQ', () => {
  let app: LifecycleApp;
  let foreign: Queue;

  beforeEach(async () => {
    app = await LifecycleApp.start([stored, done], [DoneHandler], { kinds: ['done'] }, inject('storeUrl'));
  });
  afterEach(async () => {
    await app.context.get(Canceller).cancel(TRIP, { close: false });
    await foreign?.close();
    const moved = await app.redis.keys(`${queuePrefix(app.prefix)}:*:misplaced:*`);
    if (moved.length > 0) await app.redis.unlink(...moved);
    await app.redis.unlink(`${app.prefix}:{sweeps}:walks`);
    await app.stop();
  });

  it.each(KEY_WORDS)(
    'is moved to a key of its own by the repair, and the queue works again: %s',
    async (word) => {
      const key = await addMisplaced('stored', word);
      const kept = await app.redis.hgetall(key);
      if (word === 'wait') await expect(foreign.add('letter', {})).rejects.toThrow(/WRONGTYPE/);

      const { sweepId, healed } = (await app.context.get(Sweeper).sweep('repair'))!;
      const { lines } = await app.context.get(SweepBook).lines(sweepId, 0);
      const moved = lines.find(({ what }) => what === key);
      expect({ healed: healed > 0, why: moved?.why }).toEqual({
        healed: true,
        why: expect.stringContaining(
          `the id "${word}", a key of BullMQ's own; kept as ${key.replace(word, 'misplaced')}`,
        ),
      });
      const to = moved!.why.split(' kept as ')[1]!;
      expect(await app.redis.hgetall(to)).toEqual(kept);
      expect(await app.redis.pttl(to)).toBeGreaterThan(MISPLACED_KEEP_MS - 60_000);

      expect(await app.redis.type(key)).not.toBe('hash');
      expect(await foreign.getJobs(['wait', 'delayed', 'prioritized'])).toEqual([]);
      expect(await foreign.getJobState(await enqueue(stored))).toBe('prioritized');
    },
  );

  it('does not keep others from ending once the repair was there', async () => {
    const key = await addMisplaced('done', 'completed');
    await app.context.get(Sweeper).sweep('repair');
    expect(await app.redis.type(key)).not.toBe('hash');
    const id = await enqueue(done);
    await until(
      async () => (await app.context.get(JobReader).read(id))?.state === 'completed',
      'a job of ours is completed',
    );
  });

  it('is only named by a dry run', async () => {
    const key = await addMisplaced('stored', 'wait');
    const { sweepId, state } = (await app.context.get(Sweeper).sweep('repair', { dryRun: true }))!;
    expect(state).toBe('done');
    const { lines } = await app.context.get(SweepBook).lines(sweepId, 0);
    expect(lines.map(({ what }) => what)).toContain(key);
    expect(await app.redis.type(key)).toBe('hash');
    await app.context.get(Sweeper).sweep('repair');
  });

  it('is never made by us, and not looked for under its id', async () => {
    expect(KEY_WORDS).toEqual(
      expect.arrayContaining(['wait', 'active', 'marker', 'pc', 'stalled', 'completed']),
    );
    expect(KEY_WORDS.map((word) => queueOfJobId(word)).filter((queue) => queue !== undefined)).toEqual([]);
    expect(queueOfJobId(newJobId('wait'))).toBe('wait');
    expect(await app.context.get(JobReader).read('wait')).toBeUndefined();
    expect(await app.context.get(Canceller).cancelJob('wait')).toBeUndefined();
  });

  /** As the other program does it; a key that is there already keeps BullMQ from it. Answers the key. */
  async function addMisplaced(queue: string, word: string): Promise<string> {
    foreign = new Queue(queue, { connection: app.redis, prefix: queuePrefix(app.prefix) });
    const key = foreign.toKey(word);
    await foreign.waitUntilReady();
    if (word !== 'id') await app.redis.unlink(key);
    await foreign.add('letter', { of: word }, { jobId: word }).catch(() => undefined);
    if ((await app.redis.type(key)) !== 'hash')
      await app.redis.multi().del(key).hset(key, { name: 'letter' }).exec();
    return key;
  }

  async function enqueue(kind: Kind): Promise<string> {
    return (await app.context.get(Enqueuer).enqueue(kind, 'p', { owners: [TRIP] })).id;
  }
});
