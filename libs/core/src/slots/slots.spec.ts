import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoreKit, until } from '../../../../test/support/core-kit.js';

describe('Slots', () => {
  let kit: CoreKit;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(() => kit.stop());

  const slotted = (limit: number) => ({ owners: ['track:1'], slot: { key: 'gpu:1', limit } });

  /** Runs that end when `release` is called; `names` lists their jobs in the order of their start. */
  function heldRuns(): { readonly names: string[]; readonly release: () => void } {
    const names: string[] = [];
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    kit.worker(
      async ({ name }) => {
        names.push(name);
        await released;
      },
      { concurrency: 10 },
    );
    return { names, release: () => release() };
  }

  it('has the limit of the first job of a key', async () => {
    const queue = kit.queue();
    await queue.add('x', {}, slotted(2));

    await expect(queue.add('x', {}, slotted(3))).rejects.toMatchObject({ code: 'SLOT_LIMIT', limit: 2 });

    expect(await kit.slots().get('gpu:1')).toMatchObject({ key: 'gpu:1', limit: 2, holding: 0, waiting: 0 });
    expect(await kit.slots().get('gpu:2')).toBeUndefined();
    await queue.drain();
  });

  it('lists the holders and the waiting jobs in order', async () => {
    const queue = kit.queue();
    const { names, release } = heldRuns();
    const jobs = [];
    for (const name of ['1', '2', '3']) jobs.push(await queue.add(name, {}, slotted(1)));
    const slots = kit.slots();
    await until(async () => (await slots.get('gpu:1'))?.waiting === 2, 'two wait');

    const view = await slots.get('gpu:1');

    expect(view).toMatchObject({ limit: 1, holding: 1, waiting: 2 });
    expect([view!.holders, view!.line].map((each) => each.map(({ queue: of, id }) => [of, id]))).toEqual([
      [['audio', jobs[0]!.id]],
      [
        ['audio', jobs[1]!.id],
        ['audio', jobs[2]!.id],
      ],
    ]);
    expect(Math.abs(view!.line[0]!.since - Date.now())).toBeLessThan(30_000);
    release();
    await until(async () => (await queue.getCompletedCount()) === 3, 'all completed');
    expect(names).toEqual(['1', '2', '3']);
    await kit.nothingLeft();
  });

  it('wakes as many waiting jobs as a higher limit allows, the first ones first', async () => {
    const queue = kit.queue();
    const { names, release } = heldRuns();
    for (const name of ['1', '2', '3', '4', '5']) await queue.add(name, {}, slotted(1));
    const slots = kit.slots();
    await until(async () => (await slots.get('gpu:1'))?.waiting === 4, 'four wait');

    expect(await slots.setLimit('gpu:1', 3)).toBe(1);

    await until(() => names.length === 3, 'three run');
    expect(names.toSorted()).toEqual(['1', '2', '3']);
    expect(await slots.get('gpu:1')).toMatchObject({ limit: 3, holding: 3, waiting: 2 });
    await expect(queue.add('x', {}, slotted(1))).rejects.toMatchObject({ code: 'SLOT_LIMIT', limit: 3 });
    release();
    await until(async () => (await queue.getCompletedCount()) === 5, 'all completed');
    await kit.nothingLeft();
  });

  it('ends no run when the limit is lowered; the new limit applies to the next job', async () => {
    const queue = kit.queue();
    const slots = kit.slots();
    expect(await slots.setLimit('gpu:1', 3)).toBeUndefined();
    const { names, release } = heldRuns();
    for (const name of ['1', '2', '3', '4']) await queue.add(name, {}, slotted(3));
    await until(async () => names.length === 3 && (await slots.get('gpu:1'))?.waiting === 1, 'one waits');

    expect(await slots.setLimit('gpu:1', 1)).toBe(3);

    expect(await slots.get('gpu:1')).toMatchObject({ limit: 1, holding: 3, waiting: 1 });
    release();
    await until(async () => (await queue.getCompletedCount()) === 4, 'all completed');
    expect(names[3]).toBe('4');
    await kit.nothingLeft();
  });

  it('wakes a line that is longer than one step can wake', async () => {
    const queue = kit.queue();
    const opts = { owners: ['track:1'], slot: { key: 'gpu:1', limit: 1 } };
    const worker = kit.worker(() => new Promise(() => undefined), { concurrency: 1, autorun: false });
    await queue.addBulk(Array.from({ length: 250 }, () => ({ name: 'x', data: {}, opts })));
    const first = await worker.getNextJob('token', { block: false });
    const slots = kit.slots();
    await until(async () => {
      await worker.getNextJob('token', { block: false });
      return (await slots.get('gpu:1'))!.waiting === 249;
    }, 'all others wait');

    // More than the 100 that one step wakes.
    await slots.setLimit('gpu:1', 231);

    expect(await slots.get('gpu:1')).toMatchObject({ holding: 231, waiting: 19 });
    expect(await queue.getJobCounts('prioritized', 'delayed')).toEqual({ prioritized: 230, delayed: 19 });
    await first.moveToCompleted('', 'token', false);
    await kit.owners.cancel('track:1', { close: false });
    await kit.nothingLeft();
  });

  it.each([
    ['a limit below 1', 'gpu', 0],
    ['a limit that is not a whole number', 'gpu', 1.5],
    ['a key with control characters', 'a\u0000b', 1],
  ])('refuses %s', async (_, key, limit) => {
    await expect(kit.slots().setLimit(key, limit)).rejects.toMatchObject({ code: 'INVALID' });
  });
});
