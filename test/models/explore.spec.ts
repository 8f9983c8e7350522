import { describe, expect, it } from 'vitest';
import { explore, type Model } from './explore.js';

interface Counter {
  value: number;
  /** What each of the two processes has read, before it writes. */
  read: (number | 'nothing' | 'done')[];
}

/** Two processes add one to a counter; in one step each, or in two. */
function counter(isSplit: boolean): Model<Counter> {
  return {
    start: { value: 0, read: ['nothing', 'nothing'] },
    steps: [0, 1].flatMap((p) => [
      {
        name: `process ${p + 1} reads`,
        when: ({ read }: Counter) => read[p] === 'nothing',
        act: (state: Counter) => {
          state.read[p] = isSplit ? state.value : 'done';
          if (!isSplit) state.value += 1;
        },
      },
      {
        name: `process ${p + 1} writes`,
        when: ({ read }: Counter) => typeof read[p] === 'number',
        act: (state: Counter) => {
          state.value = (state.read[p] as number) + 1;
          state.read[p] = 'done';
          return `${state.value}`;
        },
      },
    ]),
    broken: () => undefined,
    brokenAtRest: ({ value }) => (value === 2 ? undefined : 'lost update'),
  };
}

describe('the model checker', () => {
  it('explores every order and finds no fault in a correct model', () => {
    expect(explore(counter(false))).toEqual({ states: 4 });
  });

  it('returns a shortest trace, in sentences', () => {
    expect(explore(counter(true)).broken).toEqual({
      invariant: 'lost update',
      trace: ['process 1 reads', 'process 2 reads', 'process 1 writes: 1', 'process 2 writes: 1'],
    });
  });

  it('stops at the first state that breaks an invariant', () => {
    const model = {
      ...counter(false),
      broken: ({ value }: Counter) => (value > 0 ? 'above zero' : undefined),
    };
    expect(explore(model).broken).toEqual({ invariant: 'above zero', trace: ['process 1 reads'] });
  });

  it('finds a state from which no good state is reachable', () => {
    const alwaysPossible = { invariant: 'may still be even', good: ({ value }: Counter) => value % 2 === 0 };
    expect(explore({ ...counter(true), brokenAtRest: () => undefined, alwaysPossible }).broken).toEqual({
      invariant: 'may still be even',
      trace: ['process 1 reads', 'process 2 reads', 'process 1 writes: 1'],
    });
  });

  it('treats states with the same key as one', () => {
    const model = { ...counter(false), key: ({ value }: Counter) => `${value}` };
    expect(explore(model).states).toBe(3);
  });
});
