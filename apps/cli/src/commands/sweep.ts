import { pathTo } from '../api.js';
import type { Sweep, SweepLines, Sweeps } from '../answers.js';
import { ask } from '../ask.js';
import type { Command } from '../command.js';
import { follow } from '../follow.js';
import { list } from '../list.js';
import type { Screen } from '../output.js';
import { facts, sections, table } from '../render/table.js';
import { ago, bar, clean, span } from '../render/text.js';
import { named, oneOf } from '../words.js';

const words = oneOf('sweep', ['orphans', 'retention', 'expiry', 'artifacts', 'leases', 'repair']);
const POLL_EVERY_MS = 500;

export const sweepCommand: Command = {
  name: 'sweeps run',
  alias: 'sweep',
  words,
  forms: [words.usage],
  description: 'run a sweep now and follow it until it ends',
  example: 'sweep orphans --dry-run',
  options: {
    'dry-run': { description: 'only show what would be removed' },
    force: { description: 'remove even more at once than the limit allows' },
    acknowledge: { description: 'the cause of a trip is fixed: sweep again, within the limit' },
  },
  run: async (parsed, { api, out }) => {
    const [name = ''] = words.read(parsed.words, sweepCommand.example);
    const [dryRun, force] = [parsed.has('dry-run'), parsed.has('force')];
    const acknowledge = parsed.has('acknowledge');
    const { sweepId } = await api.post<{ sweepId: string }>(pathTo`/v1/admin/sweeps/${name}`, {
      body: { dryRun, force, ...(acknowledge && { acknowledge }) },
    });
    if (!out.isJson) out.note(`Sweep ${sweepId} requested. It continues if you press Ctrl-C.`);
    const ended = await follow({
      poll: () => api.get<Sweep>(pathTo`/v1/admin/sweeps/${sweepId}`),
      everyMs: POLL_EVERY_MS,
      show: (seen) => out.live(renderSweeping(seen)),
      hasEnded: sweepHasEnded,
    });
    out.answer(ended, (answer, screen) => renderSweep(name, answer, dryRun, screen));
    return sweepWentWell(ended) ? 0 : 1;
  },
};

export const sweepRecordCommand = ask<Sweep>({
  name: 'sweeps show',
  description: 'show the record of a sweep, and what it removed',
  example: 'sweeps show sweep-7Hd…',
  words: named('sweepId'),
  canWatch: true,
  call: (api, [id]) => api.get(pathTo`/v1/admin/sweeps/${id!}`),
  render: (sweep, screen) => renderSweep(sweep.sweep ?? '', sweep, sweep.dryRun ?? false, screen),
});

export const sweepLinesCommand = list<SweepLines, 'lines'>({
  name: 'sweeps lines',
  description: 'list what a sweep removed, and why',
  example: 'sweeps lines sweep-7Hd…',
  words: named('sweepId'),
  path: ([id]) => pathTo`/v1/admin/sweeps/${id!}`,
  key: 'lines',
  pages: 'cursor',
  columns: ['what', 'why~'],
  empty: 'It removed nothing.',
});

export const sweepsCommand = list<Sweeps, 'sweeps'>({
  name: 'sweeps',
  description: 'list the newest sweeps, and which have tripped',
  example: 'sweeps',
  path: () => '/v1/admin/sweeps',
  columns: [
    'sweepId',
    ['sweep', ({ sweep, dryRun }) => (dryRun ? `${sweep} (dry run)` : sweep)],
    ...(['state', 'seen', 'removed', 'failed', 'age:askedAt', 'took:tookMs?', 'why~'] as const),
  ],
  below: ({ tripped }, { paint }) =>
    Object.entries(tripped)
      .map(([name, { at, why }]) => `${paint('red', clean(name))} tripped ${ago(at)} ago: ${clean(why)}`)
      .join('\n'),
});

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

export function renderSweep(name: string, sweep: Sweep, isDryRun: boolean, screen: Screen): string {
  const { state, why, seen, removed, kept, unknown, failed, waiting, healed, jobs, tookMs, worstStallMs } =
    sweep;
  const word = screen.paint(sweepWentWell(sweep) ? 'green' : 'red', clean(state));
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
  return sections(
    isDryRun ? `${sentence} Dry run: nothing was removed.` : sentence,
    facts([...counts, ...times], screen),
    linesOf(sweep, screen),
    ...(state === 'tripped'
      ? [
          'The sweep would have removed too much at once. It removes nothing until an operator acknowledges or forces it.',
          facts(
            [
              [`mooring sweep ${name} --dry-run --force`, 'show what it would remove'],
              [`mooring sweep ${name} --acknowledge`, 'the cause is fixed: sweep again, within the limit'],
              [`mooring sweep ${name} --force`, 'the removal is right: remove all of it, once'],
            ],
            screen,
          ),
        ]
      : []),
  );
}

const LINES_SHOWN = 20;

function linesOf(sweep: Sweep, screen: Screen): string {
  const { lines = [], cursor } = sweep;
  if (lines.length === 0) return '';
  const shown = lines.slice(0, LINES_SHOWN).map(({ what, why }) => [what, why]);
  const isMore = lines.length > LINES_SHOWN || Boolean(cursor);
  const more = `\n… and more: mooring sweeps lines ${sweep.sweepId ?? '<sweepId>'} --all`;
  return table(['what', ['why', 'cut']], shown, screen) + (isMore ? more : '');
}
