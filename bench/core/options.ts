import { parseArgs } from 'node:util';
import { DEFAULT_SIDES, isSide, type SideName } from './sides.js';

export const QUESTIONS = [
  'enqueue',
  'alone',
  'batch',
  'process0',
  'process1',
  'process10',
  'workers',
  'dedup',
  'slots',
  'store',
  'backlog',
  'cancel',
] as const;
export type Question = (typeof QUESTIONS)[number];

export interface CoreOptions {
  readonly rounds: number;
  /** The first one is the base of all ratios. */
  readonly sides: readonly SideName[];
  readonly what: readonly Question[];
  readonly json: boolean;
  /** Also backlogs of 300,000 and 1,000,000 jobs. */
  readonly large: boolean;
  /** A missed target is exit code 1. */
  readonly targets: boolean;
}

/** `[--rounds 5] [--sides plain,core] [--what enqueue,store] [--large] [--targets] [--json]` */
export function readCoreOptions(): CoreOptions {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      large: { type: 'boolean', default: false },
      rounds: { type: 'string', default: '5' },
      sides: { type: 'string', default: DEFAULT_SIDES.join(',') },
      targets: { type: 'boolean', default: false },
      what: { type: 'string', default: QUESTIONS.join(',') },
    },
  });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds takes a whole number from 1 up');
  return {
    rounds,
    sides: readList('--sides', values.sides, isSide),
    what: readList('--what', values.what, isQuestion),
    json: values.json,
    large: values.large,
    targets: values.targets,
  };
}

function readList<T extends string>(name: string, text: string, isOne: (word: string) => word is T): T[] {
  return text.split(',').map((word) => {
    if (!isOne(word)) throw new Error(`${name} does not know "${word}"`);
    return word;
  });
}

function isQuestion(word: string): word is Question {
  return (QUESTIONS as readonly string[]).includes(word);
}
