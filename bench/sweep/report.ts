import { ms, row, waits, WAITS, WHAT_A_STALL_IS } from '../harness/cells.js';
import type { Waited } from '../harness/prober.process.js';
import type { Sweep } from './sweep.store.js';
import type { Shape } from './trips.js';

export interface Figures {
  readonly shape: Shape;
  readonly quiet: Waited;
  readonly ours: Sweep;
  readonly usual: Sweep;
}

const LEAST_FASTER = 20;
const OWNERS_A_CALL = 500;
const MOST_MB = 100;
const STALL_MS = 20;

export function missedTargets({ ours, usual }: Figures): string[] {
  const faster = usual.ms / ours.ms;
  const fewest = Math.ceil(ours.asked / OWNERS_A_CALL);
  const wanted: readonly (readonly [boolean, string])[] = [
    [faster >= LEAST_FASTER, `1/${faster.toFixed(1)} of the usual way's time, wanted 1/${LEAST_FASTER}`],
    [ours.calls <= fewest, `${ours.calls} calls about ${ours.asked} owners, wanted ≤ ${fewest}`],
    [ours.rssMb < MOST_MB, `${ours.rssMb.toFixed(0)} MB more, wanted < ${MOST_MB}`],
    [ours.stall.busy < STALL_MS, `a stall of ${ms(ours.stall.busy)}, wanted < ${STALL_MS} ms`],
  ];
  return wanted.filter(([holds]) => !holds).map(([, missed]) => missed);
}

export function table({ shape, quiet, ours, usual }: Figures, missed: readonly string[]): string {
  const heads = ['time', 'calls', 'RSS +', 'heap +', ...WAITS];
  return [
    row([`${shape.trips * shape.each} jobs of ${shape.trips} owners, a tenth gone`, ...heads]),
    costRow('  ours, both sightings', ours),
    costRow(`  the usual way`, usual),
    row(['    the store at rest', '', '', '', '', ...waits(quiet)]),
    row([`    the usual way to ours`, `${(usual.ms / ours.ms).toFixed(1)} times`]),
    '',
    WHAT_A_STALL_IS,
    missed.length === 0 ? 'Every target holds.' : `Missed: ${missed.join('; ')}.`,
  ].join('\n');
}

function costRow(name: string, cost: Sweep): string {
  return row([
    name,
    ms(cost.ms),
    String(cost.calls),
    `${cost.rssMb.toFixed(0)} MB`,
    `${cost.heapMb.toFixed(0)} MB`,
    ...waits(cost.stall),
  ]);
}
