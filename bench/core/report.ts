import { availableParallelism } from 'node:os';
import { ms, row, waits, WAITS, WHAT_A_STALL_IS } from '../harness/cells.js';
import type { Cancels } from './cancelled.js';
import { FIGURES, type Row } from './contest.js';
import type { Verdict } from './targets.js';

export const ROWS_HEAD = row([
  'medians (and ratios to the first side)',
  'jobs/s',
  'producer µs',
  'worker µs',
  'store µs',
  'bytes a job',
  'load',
]);

export function rowLine({ question, side, medians, ratios, load }: Row): string {
  const cells = FIGURES.map((figure) => {
    const value = medians[figure];
    return value === undefined ? '' : `${value.toFixed(value < 100 ? 1 : 0)} (${ratios[figure]!.toFixed(2)})`;
  });
  return row([`${question.padEnd(33)} ${side}`, ...cells, load.toFixed(1)]);
}

export function cancelTable(cancels: readonly Cancels[]): string {
  if (cancels.length === 0) return '';
  return [
    '',
    row([
      'cancel of an owner, while others wait',
      'time',
      'store a job',
      ...WAITS,
      'longest stall',
      'stall at rest',
    ]),
    ...cancels.map((one) =>
      row([
        `  ${one.jobs} jobs, ${one.waiting} waiting`,
        ms(one.ms),
        `${one.storeUs.toFixed(1)} µs`,
        ...waits(one.waited),
        ms(one.longestStallMs),
        ms(one.atRest.busy),
      ]),
    ),
    WHAT_A_STALL_IS,
  ].join('\n');
}

export function verdictTable(verdicts: readonly Verdict[]): string {
  const width = Math.max(...verdicts.map(({ target }) => target.length));
  return verdicts
    .map(({ target, wanted, measured, holds }) => {
      const word = holds === undefined ? 'not measured' : holds ? 'holds' : 'missed';
      return [target.padEnd(width), wanted.padEnd(10), measured.padEnd(32), word].join('  ');
    })
    .join('\n');
}

/** More than this before a run is not the benchmark's own. */
const IDLE_LOAD = 1;

export function loadLines({ before, after }: { readonly before: number; readonly after: number }): string {
  const said = `\nThe machine's load: ${before.toFixed(1)} before, ${after.toFixed(1)} after.`;
  if (before <= IDLE_LOAD) return said;
  return `${said}\nOther programs used its ${availableParallelism()} processors: rates, times and their verdicts prove nothing. CPU a job says more.`;
}
