import { ms, row, waits, WAITS, WHAT_A_STALL_IS } from '../harness/cells.js';
import type { Waited } from '../harness/prober.process.js';
import type { Shape } from './fill.js';
import type { Cost } from './pages.js';

export interface Figures {
  readonly shape: Shape;
  readonly quiet: Waited;
  readonly lists: readonly Cost[];
}

const PAGE_MS = 50;
const STALL_MS = 5;

export function missedTargets({ lists }: Figures): string[] {
  return lists.flatMap(({ path, firstMs, lastMs, pages, stall }) => {
    const wanted: readonly (readonly [boolean, string])[] = [
      [firstMs <= PAGE_MS, `first page ${ms(firstMs)}, wanted ≤ ${PAGE_MS} ms`],
      [lastMs <= PAGE_MS, `page ${pages} ${ms(lastMs)}, wanted ≤ ${PAGE_MS} ms`],
      [stall.busy <= STALL_MS, `a stall of ${ms(stall.busy)}, wanted ≤ ${STALL_MS} ms`],
    ];
    return wanted.filter(([holds]) => !holds).map(([, missed]) => `${path}: ${missed}`);
  });
}

export function table({ shape, quiet, lists }: Figures, missed: readonly string[]): string {
  const heads = ['first page', 'last page', 'worst page', 'pages', 'found', 'longest step', ...WAITS];
  return [
    row([`${shape.jobs} jobs of ${shape.owners} owners`, ...heads]),
    ...lists.map(costRow),
    row(['  the store at rest', '', '', '', '', '', '', ...waits(quiet)]),
    '',
    'The last page is the hundredth, or the last one of a shorter list.',
    WHAT_A_STALL_IS,
    missed.length === 0 ? 'Every target holds.' : `Missed:\n  ${missed.join('\n  ')}`,
  ].join('\n');
}

function costRow({ path, firstMs, lastMs, worstMs, pages, found, longestUs, stall }: Cost): string {
  const name = path.replace(/^\/v1|\?$/g, '').replaceAll('%3A', ':');
  const times = [firstMs, lastMs, worstMs].map(ms);
  return row([`  ${name}`, ...times, String(pages), String(found), ms(longestUs / 1_000), ...waits(stall)]);
}
