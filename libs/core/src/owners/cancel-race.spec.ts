import { setTimeout as pause } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askedFor, numberAskedFor } from '../../../../test/support/asked-for.js';
import { CoreKit, until } from '../../../../test/support/core-kit.js';
import { composeOurs } from '../scripts/composed-scripts.js';
import { RECIPES, type ComposedName } from '../scripts/recipes.js';

/** `CANCEL_RACE_TRIALS=100000` for a longer run. */
const TRIALS = numberAskedFor('CANCEL_RACE_TRIALS', 100);
const TRIALS_OF_A_ROUND = 1_000;
const TRIALS_AT_ONCE = 10;
/** A missing guard shows only by chance, so its test runs up to this many races. */
const RACES_OF_A_MUTANT = 10;
const JOBS_A_TRIAL = 6;
const RACE_MS = 90_000 + TRIALS * 20;

/** A change of the composed scripts: a note of a decision, or a removed guard. */
interface Change {
  readonly scripts: readonly ComposedName[];
  readonly text: string;
  readonly instead: string;
}

const FETCHING: readonly ComposedName[] = ['moveToActive', 'finish', 'moveToDelayed'];
/** <epoch>|<owner>|<epoch>|<owner>… */
const EPOCHS = "mark.epoch .. '|' .. mark.owner .. mark.further";

/** Each script notes its decision in its own step, so the notes are in the order of the store. */
const NOTES: readonly Change[] = [
  {
    scripts: FETCHING,
    text: '  leavePending(mark, ref)\n  return true',
    instead: `  redis.call('RPUSH', root .. '-log', 'begin ' .. ref .. ' ' .. ${EPOCHS})\n  leavePending(mark, ref)\n  return true`,
  },
  {
    scripts: ['finish'],
    text: '  if mark then leaveAllCurrent(mark, ref) end',
    instead: `  if mark then redis.call('RPUSH', root .. '-log', args[5] .. ' ' .. ref .. ' ' .. ${EPOCHS}) leaveAllCurrent(mark, ref) end`,
  },
  {
    scripts: ['cancel'],
    text: "redis.call('DEL', pendingOf(owner))",
    instead:
      "redis.call('RPUSH', root .. '-log', 'cancel ' .. owner .. ' ' .. epoch) redis.call('DEL', pendingOf(owner))",
  },
];

/** Removes the clean-up: whether a cancelled job starts does not depend on it. */
const NO_CLEAN_UP: Change = {
  scripts: ['cancel', 'clean'],
  text: 'if isJob and tonumber(page[2][i + 1]) <= upTo then',
  instead: 'if false then',
};

const GUARDS: Record<string, Change> = {
  'the gate': {
    scripts: FETCHING,
    text: "if not allCurrent(mark, ref) then return 'cancelled' end",
    instead: '',
  },
  'the epoch of the first owner, at the gate and before a result': {
    scripts: FETCHING,
    text: 'if not isCurrent(mark.owner, mark.epoch, ref) then return false end',
    instead: '',
  },
  'the epochs of further owners': {
    scripts: FETCHING,
    text: 'if not isCurrent(owner, epoch, ref) then return false end',
    instead: '',
  },
  'the check before a result': {
    scripts: ['finish'],
    text: 'if mark and not allCurrent(mark, ref) then',
    instead: 'if false then',
  },
};

describe('a cancel during adds, runs and retries', () => {
  let kit: CoreKit;

  beforeEach(() => {
    kit = new CoreKit();
  });

  afterEach(() => kit.stop());

  const FINE = { lateStarts: 0, lateResults: 0, lost: 0, twice: 0 };

  it(
    'prevents late starts and late commits, loses no job and commits none twice',
    { timeout: RACE_MS },
    async () => {
      const sum = { begun: 0, completed: 0 };
      for (let left = TRIALS; left > 0; left -= TRIALS_OF_A_ROUND) {
        const round = await race([], Math.min(left, TRIALS_OF_A_ROUND));
        expect(round).toMatchObject(FINE);
        for (const what of ['begun', 'completed'] as const) sum[what] += round[what];
        await kit.stop();
        kit = new CoreKit();
      }
      if (askedFor('CANCEL_RACE_TRIALS')) console.log({ trials: TRIALS, ...FINE, ...sum });
    },
  );

  it('needs no clean-up for that', async () => {
    expect(await race([NO_CLEAN_UP])).toMatchObject(FINE);
  });

  it.each(Object.entries(GUARDS))('detects that %s is missing', async (_, guard) => {
    let late = 0;
    for (let i = 0; i < RACES_OF_A_MUTANT && late === 0; i += 1) {
      const { lateStarts, lateResults } = await race([NO_CLEAN_UP, guard]);
      late = lateStarts + lateResults;
    }

    expect(late).toBeGreaterThan(0);
  });

  async function race(changes: readonly Change[], trials = 100) {
    define(kit.redis, [...NOTES, ...changes]);
    for (let i = 0; i < 2; i += 1) kit.worker(work, { concurrency: 8 });
    const queue = kit.queue();
    const cancelled = new Set<string>();
    const added: { id: string; owners: string[] }[] = [];

    const add = async (owners: string[], i: number) => {
      const opts = { owners, attempts: 2, backoff: 5, ...(i % 3 === 0 && { delay: Math.random() * 20 }) };
      const { id } = await queue.add('x', { fails: i % 4 === 1 }, opts);
      added.push({ id: id!, owners });
    };
    const trial = async (n: number) => {
      const owners = [`trip:${n}`, ...(n % 3 === 0 ? [`user:${n}`] : [])];
      const half = Array.from({ length: JOBS_A_TRIAL / 2 }, (_, i) => i);
      await Promise.all(half.map((i) => add(owners, i)));
      await pause(Math.random() * 15);
      const cancel = async () => {
        if (n % 5 === 0) return;
        cancelled.add(owners.at(-1)!);
        await kit.owners.cancel(owners.at(-1)!, { close: false });
      };
      await Promise.all([cancel(), ...half.map((i) => add(owners, i))]);
    };
    for (let n = 0; n < trials; n += TRIALS_AT_ONCE) {
      await Promise.all(Array.from({ length: TRIALS_AT_ONCE }, (_, i) => trial(n + i)));
    }
    const states = ['wait', 'active', 'delayed', 'prioritized'] as const;
    await until(async () => (await queue.getJobCountByTypes(...states)) === 0, 'all is over');

    const log = (await kit.redis.lrange(`${kit.prefix}-log`, 0, -1)).map((line) => line.split(' '));
    const completed = log.filter(([word]) => word === 'completed').map(([, ref]) => ref!);
    const ended = new Set(completed);
    return {
      ...lateOnes(log),
      completed: completed.length,
      begun: log.filter(([word]) => word === 'begin').length,
      lost: added.filter(
        ({ id, owners }) => !owners.some((owner) => cancelled.has(owner)) && !ended.has(`audio:${id}`),
      ).length,
      twice: completed.length - ended.size,
    };
  }
});

async function work({
  data,
  attemptsMade,
}: {
  data: { fails: boolean };
  attemptsMade: number;
}): Promise<void> {
  await pause(Math.random() * 6);
  if (data.fails && attemptsMade === 0) throw new Error('once more');
}

/** Goes through the notes in order and counts what began or completed under an epoch that a cancel had moved. */
function lateOnes(log: readonly string[][]): { lateStarts: number; lateResults: number } {
  const epochs = new Map<string, number>();
  const late = { begin: 0, completed: 0 };
  for (const [word, what, detail] of log as [string, string, string][]) {
    if (word === 'cancel') epochs.set(what, Number(detail));
    if (word !== 'begin' && word !== 'completed') continue;
    const parts = detail.split('|');
    const isOver = parts.some((part, i) => i % 2 === 1 && Number(parts[i - 1]) < (epochs.get(part) ?? 0));
    if (isOver) late[word] += 1;
  }
  return { lateStarts: late.begin, lateResults: late.completed };
}

/** Called before a queue is constructed: the core does not redefine commands that the client already has. */
function define(redis: Redis, changes: readonly Change[]): void {
  for (const script of new Set(changes.flatMap(({ scripts }) => scripts))) {
    const { lua, numberOfKeys } = composeOurs(RECIPES[script]);
    const changed = changes
      .filter(({ scripts }) => scripts.includes(script))
      .reduce((text, change) => {
        expect(text).toContain(change.text);
        return text.replaceAll(change.text, () => change.instead);
      }, lua);
    // The line of flags matters only for a full store, and an older store rejects it.
    redis.defineCommand(`mooring:${script}`, { lua: changed.replace(/^#!lua.*\n/, ''), numberOfKeys });
  }
}
