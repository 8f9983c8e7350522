import { nearestName } from '#nearest-name';
import type { Sweep } from '../answers.js';
import type { Command } from '../command.js';
import { follow } from '../follow.js';
import type { Paint } from '../output.js';
import { WrongUsage } from '../problems.js';
import { facts, table } from '../render/table.js';
import { bar, clean, span } from '../render/text.js';

const SWEEPS = ['orphans', 'retention', 'expiry', 'artifacts', 'leases', 'repair'];
const POLL_EVERY_MS = 500;

export const sweepCommand: Command = {
  name: 'sweep',
  usage: [`sweep <${SWEEPS.join('|')}>`],
  description: 'run a sweep now and follow it until it ends',
  options: {
    'dry-run': { description: 'only show what would be removed' },
    force: { description: 'remove even more at once than the limit allows' },
    acknowledge: { description: 'the cause of a trip is fixed: sweep again, within the limit' },
  },
  run: async (parsed, { api, out }) => {
    const name = readName(parsed.words);
    const [dryRun, force] = [parsed.has('dry-run'), parsed.has('force')];
    const acknowledge = parsed.has('acknowledge');
    const { sweepId } = await api.post<{ sweepId: string }>(`/v1/admin/sweeps/${name}`, {
      body: { dryRun, force, ...(acknowledge && { acknowledge }) },
    });
    if (!out.isJson) out.note(`Sweep ${sweepId} requested. It continues if you press Ctrl-C.`);
    const ended = await follow({
      poll: () => api.get<Sweep>(`/v1/admin/sweeps/${encodeURIComponent(sweepId)}`),
      everyMs: POLL_EVERY_MS,
      show: (seen) => out.live(renderSweeping(seen)),
      hasEnded: sweepHasEnded,
    });
    out.answer(ended, (answer, paint) => renderSweep(name, answer, dryRun, paint));
    return sweepWentWell(ended) ? 0 : 1;
  },
};

function readName(words: readonly string[]): string {
  const [name, ...rest] = words;
  if (rest.length > 0) throw new WrongUsage(`Name one sweep only; "${rest.join(' ')}" is too much.`);
  if (name !== undefined && SWEEPS.includes(name)) return name;
  const near = name === undefined ? undefined : nearestName(name, SWEEPS, 3);
  const got = name === undefined ? '' : `; got "${name}"`;
  throw new WrongUsage(`Name a sweep: ${SWEEPS.join(', ')}${got}.${near ? ` Did you mean ${near}?` : ''}`);
}

/** A stopped sweep is not over: the next janitor resumes it. */
const UNDER_WAY = ['asked', 'running', 'stopped'];

function sweepHasEnded({ state }: Sweep): boolean {
  return !UNDER_WAY.includes(state);
}

function sweepWentWell({ state, failed = 0 }: Sweep): boolean {
  return state === 'done' && failed === 0;
}

function renderSweeping({ state, seen = 0, removed = 0, of, dryRun = false }: Sweep): string {
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
