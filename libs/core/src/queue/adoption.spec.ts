import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit, until } from '../../../../test/support/core-kit.js';
import { createMooredBackend } from '../backend/moored-backend.js';

describe('adopting jobs that wait', () => {
  let kit: CoreKit;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(() => kit.stop());

  it('leaves a job alone that a worker took, or that ended, while its page was read', async () => {
    const plain = kit.plainQueue();
    let finish = (): void => undefined;
    kit.worker((job) =>
      job.name === 'done' ? Promise.resolve() : new Promise<void>((end) => (finish = end)),
    );
    const [done, running] = [await plain.add('done', {}), await plain.add('running', {})];
    await until(async () => (await done.isCompleted()) && running.isActive(), 'one ended, one runs');
    const backend = createMooredBackend('audio', kit.place);

    expect(await backend.adoptWaiting([done.id!, 'user:1', running.id!, 'user:1', 'gone', 'user:1'])).toEqual(
      [0, 0],
    );

    expect(await kit.owners.get('user:1')).toBeUndefined();
    finish();
    await until(() => running.isCompleted(), 'it ends as ever');
    await backend.close();
  });

  it('adopts jobs of every state that waits, children and parents too, and leaves those of owners as they are', async () => {
    const plain = kit.plainQueue();
    await plain.add('waiting', {});
    await plain.add('delayed', {}, { delay: 60_000 });
    await plain.add('prioritized', {}, { priority: 7 });
    const queue = kit.queue();
    await queue.add('owned', {}, { owners: ['user:2'] });
    await kit
      .flows()
      .add({ name: 'parent', queueName: 'audio', children: [{ name: 'child', queueName: 'audio' }] });

    const adoption = await queue.adopt(() => ['user:1']);

    expect(adoption).toEqual({ adopted: 5, ended: 0, unreadable: 0 });
    const { jobs } = (await kit.owners.get('user:1'))!;
    expect(jobs.map(({ name }) => name).toSorted()).toEqual([
      'child',
      'delayed',
      'parent',
      'prioritized',
      'waiting',
    ]);
    await kit.owners.cancel('user:1', { wait: 'drained' });
    expect((await queue.getJobs()).map(({ name }) => name)).toEqual(['owned']);
    await kit.owners.cancel('user:2', { wait: 'drained' });
  });

  it('counts jobs whose owners cannot be told and leaves them', async () => {
    await kit.plainQueue().addBulk([
      { name: 'bad', data: null },
      { name: 'good', data: { user: '1' } },
    ]);
    const queue = kit.queue();

    const adoption = await queue.adopt((job) => [`user:${job.data.user}`]);

    expect(adoption).toEqual({ adopted: 1, ended: 0, unreadable: 1 });
    await kit.owners.cancel('user:1', { wait: 'drained' });
    expect((await queue.getJobs()).map(({ name }) => name)).toEqual(['bad']);
  });
});
