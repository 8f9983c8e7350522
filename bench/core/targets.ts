import { BACKLOG } from './backlog.js';
import { FEW, MANY, type Cancels } from './cancelled.js';
import { median } from '../harness/median.js';
import type { Figure, Row } from './contest.js';
import type { SideName } from './sides.js';

/** A target and what was measured of it; `holds` is undefined if it was not measured. */
export interface Verdict {
  readonly target: string;
  readonly wanted: string;
  readonly measured: string;
  readonly holds: boolean | undefined;
}

interface Wanted {
  readonly target: string;
  readonly question: RegExp;
  readonly figure: Figure;
  /** The ratio to plain BullMQ. */
  readonly atLeast?: number;
  readonly atMost?: number;
}

const WANTED: readonly Wanted[] = [
  { target: 'enqueue one by one', question: /^enqueue one by one, \d/, figure: 'rate', atLeast: 0.95 },
  { target: 'enqueue 1000 a call', question: /^enqueue 1000/, figure: 'rate', atLeast: 1.4 },
  { target: 'process no-op', question: /^process no-op, \d+ an owner/, figure: 'rate', atLeast: 0.95 },
  { target: 'process 1 ms', question: /^process 1 ms$/, figure: 'rate', atLeast: 0.95 },
  { target: 'process 10 ms', question: /^process 10 ms$/, figure: 'rate', atLeast: 0.97 },
  {
    target: "producer's CPU",
    question: /^enqueue (?:one by one|1000.*), \d+ an/,
    figure: 'producerCpu',
    atMost: 0.8,
  },
  {
    target: "worker's CPU",
    question: /^process (?:no-op, \d+ an owner|\d+ ms)$/,
    figure: 'workerCpu',
    atMost: 0.9,
  },
  { target: "store's CPU, add to end", question: /^store,/, figure: 'storeCpu', atMost: 1.15 },
  { target: 'memory a waiting job', question: /^store,/, figure: 'bytes', atMost: 1.3 },
];
/** More than this is no noise: a job costs more as more wait. */
const MOST_GROWTH = 1.5;
const LARGEST_BACKLOG = 1_000_000;
const CANCEL_MS = 15;
const MANY_MS = 1_000;
const STALL_MS = 5;
const JUDGED: readonly SideName[] = ['core', 'core-add'];
/** Of a kind in a Nest application: jobs a second, beside the core's own classes. */
const OF_KINDS = /^enqueue one by one, \d|^process (?:no-op, \d+ an|\d+ ms$)/;
const KINDS_AT_LEAST = 0.9;

export function verdicts(rows: readonly Row[], cancels: readonly Cancels[]): Verdict[] {
  const isToPlain = rows.some(({ side }) => side === 'plain');
  const mine = rows.filter(({ side }) => isToPlain && JUDGED.includes(side));
  return [
    ...WANTED.flatMap((wanted) => verdictsOn(wanted, mine)),
    ...verdictsOnKinds(rows),
    ...(['enqueue', 'process'] as const).map((step) => growthOf(step, rows)),
    ...[300_000, LARGEST_BACKLOG].flatMap((waiting) => verdictsOnCancels(cancels, waiting)),
  ];
}

function verdictsOn({ target, question, figure, atLeast, atMost }: Wanted, rows: readonly Row[]): Verdict[] {
  const wanted = atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`;
  const found = rows.filter((row) => question.test(row.question) && row.ratios[figure] !== undefined);
  if (found.length === 0) return [unmeasured(target, wanted)];
  return found.map((row) => {
    const ratio = row.ratios[figure]!;
    return {
      target: `${target} (${row.side}: ${row.question})`,
      wanted,
      measured: ratio.toFixed(2),
      holds: ratio >= (atLeast ?? 0) && ratio <= (atMost ?? Infinity),
    };
  });
}

function verdictsOnKinds(rows: readonly Row[]): Verdict[] {
  return rows
    .filter(({ side, question }) => side === 'nestjs' && OF_KINDS.test(question))
    .flatMap(({ question, rounds }) => {
      const core = rows.find((row) => row.side === 'core' && row.question === question);
      if (!core) return [];
      const ratio = median(rounds.map(({ rate }, round) => rate! / core.rounds[round]!.rate!));
      const [target, wanted] = [`kinds beside the core (${question})`, `≥ ${KINDS_AT_LEAST}`];
      return { target, wanted, measured: ratio.toFixed(2), holds: ratio >= KINDS_AT_LEAST };
    });
}

/** By the store's CPU, as times say less on a busy machine. Plain BullMQ's growth stands beside it. */
function growthOf(step: 'enqueue' | 'process', rows: readonly Row[]): Verdict {
  const target = `flat from 1000 to ${LARGEST_BACKLOG} waiting: store's CPU, ${step}`;
  const wanted = `≤ ${MOST_GROWTH}`;
  const core = growthUnder(step, rows, 'core');
  if (!core) return unmeasured(target, wanted);
  const plain = growthUnder(step, rows, 'plain');
  const isWhole = core.upTo === LARGEST_BACKLOG;
  const measured = [
    core.growth.toFixed(2),
    isWhole ? '' : ` up to ${core.upTo}`,
    plain ? ` (plain ${plain.growth.toFixed(2)})` : '',
  ].join('');
  // One that has grown early has missed it; one that has not may still grow later.
  const holds = core.growth > MOST_GROWTH ? false : isWhole ? true : undefined;
  return { target, wanted, measured, holds };
}

function growthUnder(
  step: string,
  rows: readonly Row[],
  side: SideName,
): { growth: number; upTo: number } | undefined {
  const sizes = rows.filter(
    (row) => row.side === side && row.question.startsWith(step) && BACKLOG.test(row.question),
  );
  const [least, most] = [sizes[0], sizes.at(-1)];
  if (!least || !most || least === most) return undefined;
  const growth = most.medians.storeCpu! / least.medians.storeCpu!;
  return { growth, upTo: Number(BACKLOG.exec(most.question)![1]) };
}

function verdictsOnCancels(cancels: readonly Cancels[], waiting: number): Verdict[] {
  const under = cancels.filter((one) => one.waiting === waiting);
  const few = under.find(({ jobs }) => jobs === FEW);
  const many = under.find(({ jobs }) => jobs === MANY);
  return [
    limit(`cancel of ${FEW} jobs, ${waiting} waiting`, few?.ms, CANCEL_MS),
    limit(`  worst stall of another client`, few?.longestStallMs, STALL_MS),
    limit(`cancel of ${MANY} jobs, ${waiting} waiting`, many?.ms, MANY_MS),
    limit(`  worst stall of another client`, many?.longestStallMs, STALL_MS),
  ];
}

function limit(target: string, ms: number | undefined, most: number): Verdict {
  const wanted = `≤ ${most.toFixed(0)} ms`;
  if (ms === undefined) return unmeasured(target, wanted);
  return { target, wanted, measured: `${ms.toFixed(1)} ms`, holds: ms <= most };
}

function unmeasured(target: string, wanted: string): Verdict {
  return { target, wanted, measured: '', holds: undefined };
}
