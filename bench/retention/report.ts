import { ms, row, waits, WAITS, WHAT_A_STALL_IS } from '../harness/cells.js';
import type { Waited } from '../harness/prober.process.js';
import { KEPT } from './retention.app.js';
import type { Sweeping } from './sweeper.process.js';

export interface Figures extends Sweeping {
  readonly jobs: number;
  readonly quiet: Waited;
  readonly stall: Waited;
}

const MOST_MB = 100;
const STALL_MS = 20;

export function missedTargets({ rssMb, stall }: Figures): string[] {
  const wanted: readonly (readonly [boolean, string])[] = [
    [rssMb < MOST_MB, `${rssMb.toFixed(0)} MB more, wanted < ${MOST_MB}`],
    [stall.busy < STALL_MS, `a stall of ${ms(stall.busy)}, wanted < ${STALL_MS} ms`],
  ];
  return wanted.filter(([holds]) => !holds).map(([, missed]) => missed);
}

export function table(figures: Figures, missed: readonly string[]): string {
  const { jobs, removed, quiet, stall, rssMb, heapMb } = figures;
  const heads = ['time', 'jobs/s', 'RSS +', 'heap +', ...WAITS];
  const perSecond = (removed / figures.ms) * 1_000;
  return [
    row([`${jobs} finished jobs, ${KEPT} kept`, ...heads]),
    row([
      '  each after its artifact',
      ms(figures.ms),
      perSecond.toFixed(0),
      `${rssMb.toFixed(0)} MB`,
      `${heapMb.toFixed(0)} MB`,
      ...waits(stall),
    ]),
    row(['    the store at rest', '', '', '', '', ...waits(quiet)]),
    '',
    WHAT_A_STALL_IS,
    missed.length === 0 ? 'Every target holds.' : `Missed: ${missed.join('; ')}.`,
  ].join('\n');
}
