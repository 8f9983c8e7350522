import type { Sweep } from '../answers.js';
import type { Paint } from '../output.js';
import { bar } from './bar.js';
import { facts, table } from './table.js';
import { clean, span } from './text.js';

/** A stopped sweep is not over: the next janitor resumes it. */
const UNDER_WAY = ['asked', 'running', 'stopped'];

export function sweepHasEnded({ state }: Sweep): boolean {
  return !UNDER_WAY.includes(state);
}

export function sweepWentWell({ state, failed = 0 }: Sweep): boolean {
  return state === 'done' && failed === 0;
}

export function renderSweeping({ state, seen = 0, removed = 0, of, dryRun = false }: Sweep): string {
  const how = of === undefined ? `${seen} seen` : bar(seen, of);
  return `${state === 'asked' ? 'waiting for a janitor' : state}: ${how}, ${removed} ${dryRun ? 'would be removed' : 'removed'}`;
}

export function renderSweep(name: string, sweep: Sweep, isDryRun: boolean, paint: Paint): string {
  const { state, why, seen, removed, kept, unknown, failed, waiting, healed, jobs, tookMs, worstStallMs } =
    sweep;
  const word = paint(sweepWentWell(sweep) ? 'green' : 'red', clean(state));
  const sentence = `Sweep ${name}: ${word}${why ? ` (${clean(why).replace(/\.$/, '')})` : ''}.`;
  const times = [
    ['took', tookMs === undefined ? undefined : span(tookMs)],
    ['worst stall', worstStallMs === undefined ? undefined : span(worstStallMs)],
  ] as const;
  const counts = [
    ['seen', seen],
    [isDryRun ? 'would remove' : 'removed', removed],
    ['kept', kept],
    ['unknown', unknown],
    ['failed', failed],
    ['waiting', waiting || undefined],
    ['healed', healed || undefined],
    ['jobs', jobs || undefined],
  ] as const;
  return [
    isDryRun ? `${sentence} Dry run: nothing was removed.` : sentence,
    facts([...counts, ...times], paint),
    linesOf(sweep, paint),
    ...(state === 'tripped'
      ? [
          'The sweep would have removed too much at once. It removes nothing until an operator acknowledges or forces it.',
          facts(
            [
              [`mooring sweep ${name} --dry-run --force`, 'show what it would remove'],
              [`mooring sweep ${name} --acknowledge`, 'the cause is fixed: sweep again, within the limit'],
              [`mooring sweep ${name} --force`, 'the removal is right: remove all of it, once'],
            ],
            paint,
          ),
        ]
      : []),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

const LINES_SHOWN = 20;

function linesOf(sweep: Sweep, paint: Paint): string {
  const { lines = [], cursor } = sweep;
  if (lines.length === 0) return '';
  const shown = lines.slice(0, LINES_SHOWN).map(({ what, why }) => [what, why]);
  const isMore = lines.length > LINES_SHOWN || Boolean(cursor);
  const more = `\n… and more: GET /v1/admin/sweeps/${sweep.sweepId ?? '…'} returns them page by page`;
  return table(['what', 'why'], shown, paint) + (isMore ? more : '');
}
