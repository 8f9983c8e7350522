import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { CoreKit, until } from '../../../../test/support/core-kit.js';

const CHILD = fileURLToPath(new URL('../../../../test/support/core-child.mjs', import.meta.url));
const KILLS = 8;
const UNFINISHED = ['wait', 'active', 'delayed', 'prioritized', 'waiting-children'] as const;

describe('processes that are killed at any moment', () => {
  let kit: CoreKit;
  const children: ChildProcess[] = [];

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(async () => {
    await Promise.all(children.splice(0).map(kill));
    await kit.stop();
  });

  async function start(role: 'producer' | 'worker' | 'canceller', seed = 0): Promise<ChildProcess> {
    // The test runner resolves names to the sources; a separate process runs the build.
    const child = fork(CHILD, [role, inject('storeUrl'), kit.prefix, String(seed)], { execArgv: [] });
    children.push(child);
    await once(child, 'message');
    return child;
  }

  async function kill(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** The jobs that have not ended, and those in the index of their owners. */
  async function bothSides(): Promise<{ jobs: string[]; index: string[] }> {
    const queue = kit.plainQueue();
    const jobs = (await queue.getJobs([...UNFINISHED], 0, -1)).map((job) => `audio:${job.id}`);
    const index = new Set<string>();
    for (const key of await kit.redis.keys(`${kit.prefix}~owner~*`)) {
      for (const field of await kit.redis.hkeys(key)) if (field.includes(':')) index.add(field);
    }
    return { jobs: jobs.toSorted(), index: [...index].toSorted() };
  }

  it('leave an index that equals the unfinished jobs, without any repair', async () => {
    for (let n = 0; n < KILLS; n += 1) {
      const busy = await Promise.all([
        start('producer', n * 1_000),
        start('worker'),
        start('worker'),
        start('canceller', n),
      ]);
      await pause(150 + Math.random() * 200);
      await Promise.all(busy.map(kill));

      const { jobs, index } = await bothSides();
      expect(index).toEqual(jobs);
    }
    await start('worker');
    await until(async () => (await bothSides()).jobs.length === 0, 'all jobs have ended');
    await until(
      async () => (await kit.owners.resume()) === 0,
      'the cancels of killed processes are finished',
    );
    await kit.nothingLeft();
  });
});
