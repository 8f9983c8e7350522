import { ms, row, waits, WAITS, WHAT_A_STALL_IS } from '../harness/cells.js';
import type { Waited } from '../harness/prober.process.js';
import { JOBS, type Cost, type UnderBacklog } from './backlog.js';
import { MANY } from './many.js';
import { LEASE_MS, type Told } from './told.js';

export interface Figures {
  readonly backlogs: readonly UnderBacklog[];
  readonly many: { readonly quiet: Waited; readonly ours: Cost };
  readonly told: Readonly<Record<'message' | 'renewal', Told>>;
}

const AT = 300_000;
const LEAST_FASTER = 300;
const MOST_GROWTH = 2;
/** As much as one owner's jobs may take and give back; the backlog must not be in it. */
const FLAT_MB = 32;
const STALL_MS = 20;
const TOLD_P50_MS = 50;

export function missedTargets({ backlogs, many, told }: Figures): string[] {
  const [least, most] = [backlogs[0]!, backlogs.find(({ waiting }) => waiting === AT)!];
  const faster = most.usual!.ms / most.ours.ms;
  const growth = most.ours.ms / least.ours.ms;
  const wanted: readonly (readonly [boolean, string])[] = [
    [
      faster >= LEAST_FASTER,
      `1/${faster.toFixed(0)} of the usual way's time under ${AT}, wanted 1/${LEAST_FASTER}`,
    ],
    [growth <= MOST_GROWTH, `${growth.toFixed(1)} times as long under ${AT}, wanted ≤ ${MOST_GROWTH}`],
    ...backlogs.map(
      ({ waiting, ours }) =>
        [
          ours.rssMb <= FLAT_MB,
          `${ours.rssMb.toFixed(0)} MB more under ${waiting}, wanted ≤ ${FLAT_MB}`,
        ] as const,
    ),
    ...backlogs.map(
      ({ waiting, ours }) =>
        [
          ours.stall.busy < STALL_MS,
          `a stall of ${ms(ours.stall.busy)} under ${waiting}, wanted < ${STALL_MS} ms`,
        ] as const,
    ),
    [
      many.ours.stall.busy < STALL_MS,
      `a stall of ${ms(many.ours.stall.busy)} by ${MANY} jobs, wanted < ${STALL_MS} ms`,
    ],
    [told.message.p50 <= TOLD_P50_MS, `told after ${ms(told.message.p50)}, wanted ≤ ${TOLD_P50_MS} ms`],
    [
      told.renewal.worst <= LEASE_MS,
      `told after ${ms(told.renewal.worst)} without a message, wanted within a lease`,
    ],
  ];
  return wanted.filter(([holds]) => !holds).map(([, missed]) => missed);
}

export function table({ backlogs, many, told }: Figures, missed: readonly string[]): string {
  const heads = ['time', 'RSS +', 'heap +', ...WAITS];
  return [
    row([`an owner with ${JOBS} jobs, while others wait`, ...heads]),
    ...backlogs.flatMap(({ waiting, quiet, ours, usual }) => [
      costRow(`  ${waiting}, ours`, ours),
      ...(usual ? [costRow(`  ${waiting}, the usual way`, usual)] : []),
      quietRow(quiet),
      ...(usual ? [row([`    the usual way to ours`, `${(usual.ms / ours.ms).toFixed(0)} times`])] : []),
    ]),
    '',
    row([`an owner with ${MANY} jobs`, ...heads]),
    costRow('  ours', many.ours),
    quietRow(many.quiet),
    '',
    row(['from cancel to abort, of running jobs', 'p50', 'p99', 'worst', 'runs']),
    toldRow('  by message', told.message),
    toldRow(`  by renewal alone, leases of ${LEASE_MS / 1_000} s`, told.renewal),
    '',
    WHAT_A_STALL_IS,
    missed.length === 0 ? 'Every target holds.' : `Missed: ${missed.join('; ')}.`,
  ].join('\n');
}

function costRow(name: string, { rounds, ms: took, rssMb, heapMb, stall }: Cost): string {
  return row([
    `${name} (${rounds} ${rounds === 1 ? 'round' : 'rounds'})`,
    ms(took),
    `${rssMb.toFixed(0)} MB`,
    `${heapMb.toFixed(0)} MB`,
    ...waits(stall),
  ]);
}

function quietRow(quiet: Waited): string {
  return row(['    the store at rest', '', '', '', ...waits(quiet)]);
}

function toldRow(name: string, { p50, p99, worst, runs }: Told): string {
  return row([name, ms(p50), ms(p99), ms(worst), String(runs)]);
}
