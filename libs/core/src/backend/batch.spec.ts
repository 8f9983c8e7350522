import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Batch } from './batch.js';

const PACE = { most: 6, mostOfSlow: 4, stepsUnderWay: 2 };

/** A store that answers each step when the test tells it to. */
class SlowStore {
  readonly steps: (readonly number[])[] = [];
  private readonly answers: ((error?: Error) => void)[] = [];

  readonly send = (items: readonly number[]): Promise<number[]> => {
    this.steps.push(items);
    return new Promise((resolve, reject) =>
      this.answers.push((error) => (error ? reject(error) : resolve(items.map((item) => item * 10)))),
    );
  };

  async answer(error?: Error): Promise<void> {
    this.answers.shift()!(error);
    await turns();
  }
}

/** Enough for every step of a test. */
async function turns(): Promise<void> {
  for (let i = 0; i < 10; i += 1) await nextTurn();
}

function addAll(
  batch: Batch<number, number>,
  items: readonly number[],
): Promise<PromiseSettledResult<number>[]> {
  return Promise.allSettled(items.map((item) => batch.add(item)));
}

describe('Batch', () => {
  it('sends the items of one turn in one step and gives each its own answer', async () => {
    const store = new SlowStore();
    const added = addAll(new Batch(PACE, store.send), [1, 2, 3]);
    await turns();
    await store.answer();

    expect(store.steps).toEqual([[1, 2, 3]]);
    expect((await added).map((each) => each.status === 'fulfilled' && each.value)).toEqual([10, 20, 30]);
  });

  it('splits many items evenly into steps and limits the steps in flight', async () => {
    const store = new SlowStore();
    const batch = new Batch(PACE, store.send);
    const added = addAll(batch, [1, 2, 3, 4, 5]);
    const later = turns().then(() => addAll(batch, [6, 7, 8]));
    await turns();
    await turns();

    expect(store.steps).toEqual([
      [1, 2, 3],
      [4, 5],
    ]);
    await store.answer();
    expect(store.steps.at(-1)).toEqual([6, 7, 8]);
    await store.answer();
    await store.answer();
    await Promise.all([added, later]);
  });

  it('makes later steps larger when answers arrive at once', async () => {
    const store = new SlowStore();
    const batch = new Batch(PACE, store.send);
    const again = [1, 2, 3, 4, 5, 6].map((item) => batch.add(item).then((answer) => batch.add(answer)));
    await turns();
    void store.answer();
    await store.answer();

    expect(store.steps).toEqual([
      [1, 2, 3],
      [4, 5, 6],
      [10, 20, 30, 40, 50, 60],
    ]);
    await store.answer();
    await Promise.all(again);
  });

  it('rejects the items of a failed step and continues with the next', async () => {
    const store = new SlowStore();
    const batch = new Batch(PACE, store.send);
    const failed = addAll(batch, [1, 2]);
    await turns();
    await store.answer(new Error('away'));
    const added = addAll(batch, [3]);
    await turns();
    await store.answer();

    expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect((await added)[0]).toEqual({ status: 'fulfilled', value: 30 });
  });
});
