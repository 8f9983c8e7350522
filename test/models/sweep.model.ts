import { keyOf, type Model, type Step } from './explore.js';

/*
  One owner, its row in the database of its service, and its record in the store. The service of the owner enqueues
  before it commits the row, deletes the row, creates it again, and enqueues again: a new job, or one more trigger for
  the job that is still pending. Two janitors sweep under a lock that may expire at any time. The resolver may fail
  once. The cancel is that of cancel.lua, with the epoch and the reserve counter that the janitor saw.
*/

export type Flaw =
  | 'no grace for young owners'
  | 'an error counts as gone'
  | 'compare-and-set on the epoch only'
  | 'no compare-and-set'
  | 'a skipped trigger leaves the reserve counter alone';

/** The events in the life of the owner, in this order. */
const LIFE = [
  'enqueues a job',
  'commits its row',
  'deletes its row',
  'enqueues again, its new row not yet committed',
  'commits its new row',
] as const;

interface Janitor {
  at: 'idle' | 'locked' | 'saw' | 'knows it gone' | 'over';
  epoch: number;
  counter: number;
}

interface State {
  hasRow: boolean;
  done: number;
  /** Epoch, reserve counter, and whether the last reserve is older than the grace. */
  record: { epoch: number; counter: number; isOld: boolean };
  /** The epochs of the waiting triggers, from the first and the second enqueue; 0 for none. */
  waits: [number, number];
  janitors: Janitor[];
  lockOf: number;
  errorsLeft: number;
  broke: string;
}

const JANITORS = [0, 1];
const NONE = -1;

/** `again` is the kind of the second enqueue: a job of its own, or a trigger that joins the pending job. */
export function sweepModel(again: 'new' | 'skip', flaw?: Flaw): Model<State> {
  return {
    start: {
      hasRow: false,
      done: 0,
      record: { epoch: 1, counter: 0, isOld: false },
      waits: [0, 0],
      janitors: JANITORS.map(() => ({ at: 'idle', epoch: 0, counter: 0 })),
      lockOf: NONE,
      errorsLeft: 1,
      broke: '',
    },
    steps: [owner(again, flaw), ...time(), ...JANITORS.flatMap((j) => janitor(j, flaw))],
    broken: (state) => state.broke || undefined,
    key: (state) => {
      const janitors = state.janitors.map((each, j) => keyOf([each, state.lockOf === j]));
      return keyOf({ ...state, lockOf: 0, janitors: janitors.toSorted() });
    },
  };
}

function owner(again: 'new' | 'skip', flaw: Flaw | undefined): Step<State> {
  return {
    name: 'the owner',
    when: ({ done }) => done < LIFE.length,
    act: (state) => {
      const event = LIFE[state.done]!;
      state.done += 1;
      switch (event) {
        case 'enqueues a job':
          reserve(state, 0);
          break;
        case 'enqueues again, its new row not yet committed': {
          const hasTwin = again === 'skip' && state.waits[0] === state.record.epoch;
          const isUnseen = hasTwin && flaw === 'a skipped trigger leaves the reserve counter alone';
          if (isUnseen) state.waits[1] = state.record.epoch;
          else reserve(state, 1);
          break;
        }
        case 'commits its row':
        case 'commits its new row':
          state.hasRow = true;
          break;
        case 'deletes its row':
          state.hasRow = false;
      }
      return event;
    },
  };
}

function reserve(state: State, trigger: 0 | 1): void {
  state.record.counter += 1;
  state.record.isOld = false;
  state.waits[trigger] = state.record.epoch;
}

function time(): Step<State>[] {
  return [
    {
      name: 'the grace passes',
      // A row is committed within the grace.
      when: ({ record, done }) => !record.isOld && done > 0 && !isUncommitted(done),
      act: (state) => {
        state.record.isOld = true;
      },
    },
    {
      name: 'the lock runs out',
      when: ({ lockOf }) => lockOf !== NONE,
      act: (state) => {
        state.lockOf = NONE;
      },
    },
  ];
}

function isUncommitted(done: number): boolean {
  return LIFE[done - 1]!.startsWith('enqueues');
}

/**
 * Takes the lock, reads, asks, cancels. The janitor never checks that it still holds the lock: the steps must be safe
 * without it.
 */
function janitor(j: number, flaw: Flaw | undefined): Step<State>[] {
  const who = `janitor ${j + 1}`;
  const isAt = (at: Janitor['at']) => (state: State) => state.janitors[j]!.at === at;
  return [
    {
      name: `${who} takes the lock`,
      when: (state) => isAt('idle')(state) && state.lockOf === NONE,
      act: (state) => {
        state.lockOf = j;
        state.janitors[j]!.at = 'locked';
      },
    },
    {
      name: `${who} reads the record`,
      when: (state) =>
        isAt('locked')(state) &&
        state.done > 0 &&
        (state.record.isOld || flaw === 'no grace for young owners'),
      act: (state) => {
        const { epoch, counter } = state.record;
        state.janitors[j] = { at: 'saw', epoch, counter };
        return `epoch ${epoch}, counter ${counter}`;
      },
    },
    {
      name: `${who} asks the resolver`,
      when: isAt('saw'),
      act: (state) => {
        if (!state.hasRow) state.janitors[j]!.at = 'knows it gone';
        else leave(state, j);
        return state.hasRow ? 'alive' : 'gone';
      },
    },
    {
      name: `${who} asks the resolver, which errs`,
      when: (state) => isAt('saw')(state) && state.errorsLeft > 0,
      act: (state) => {
        state.errorsLeft -= 1;
        if (flaw === 'an error counts as gone') state.janitors[j]!.at = 'knows it gone';
        else leave(state, j);
        return 'unknown';
      },
    },
    {
      name: `${who} cancels what it saw`,
      when: isAt('knows it gone'),
      act: (state) => {
        const { epoch, counter } = state.janitors[j]!;
        leave(state, j);
        // A janitor that cancelled is done; one that cancelled nothing may start again.
        const word = cancel(state, epoch, counter, flaw);
        if (word === 'cancelled') state.janitors[j]!.at = 'over';
        return word;
      },
    },
  ];
}

function cancel(state: State, sawEpoch: number, sawCounter: number, flaw: Flaw | undefined): string {
  const { record, waits } = state;
  const epochMoved = record.epoch !== sawEpoch && flaw !== 'no compare-and-set';
  const counterMoved =
    record.counter !== sawCounter &&
    flaw !== 'no compare-and-set' &&
    flaw !== 'compare-and-set on the epoch only';
  if (epochMoved || counterMoved) return 'moved';
  const isStillWanted = waits[1] === record.epoch || (waits[0] === record.epoch && state.done < DELETED);
  if (isStillWanted) state.broke = waits[1] === record.epoch ? 'I19' : 'I20';
  record.epoch += 1;
  return 'cancelled';
}

/** The number of events until the first row is deleted: from then on the first job may be cancelled. */
const DELETED = LIFE.indexOf('deletes its row') + 1;

function leave(state: State, j: number): void {
  state.janitors[j] = { at: 'idle', epoch: 0, counter: 0 };
  if (state.lockOf === j) state.lockOf = NONE;
}
