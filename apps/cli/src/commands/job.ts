import { type Api, pathTo } from '../api.js';
import type { Job, Log, Payload, TimelineEntry } from '../answers.js';
import type { Command, ExitCode, Tools } from '../command.js';
import { follow } from '../follow.js';
import type { Screen, Style } from '../output.js';
import { Refused } from '../problems.js';
import { facts, sections, table } from '../render/table.js';
import { clean, cleanLines, plural, show, span } from '../render/text.js';
import { named } from '../words.js';

const POLL_EVERY_MS = 300;
const words = named('jobId');

/** `lines` and `payload` are undefined for a removed job. */
type WholeJob = Job & Partial<Pick<Log, 'lines'> & Pick<Payload, 'payload'>>;

export const jobCommand: Command = {
  name: 'jobs show',
  alias: 'job',
  words,
  forms: ['<jobId> [--watch]'],
  description: 'show a job with its timeline, payload and log',
  example: 'jobs show probe-4kQ…',
  options: {
    watch: { description: 'follow it until it ends; exit code 0 only if it completes' },
  },
  run: async (parsed, tools) => {
    const [id] = words.read(parsed.words, jobCommand.example);
    if (parsed.has('watch')) return watch(id!, tools);
    tools.out.answer(await read(id!, tools.api), renderJob);
    return 0;
  },
};

async function read(id: string, api: Api): Promise<WholeJob> {
  const job = await api.get<Job>(pathTo`/v1/jobs/${id}`);
  const [payload, log] = await Promise.all([
    api.get<Payload>(pathTo`/v1/jobs/${id}/payload`).catch(ifGone),
    api.get<Log>(pathTo`/v1/jobs/${id}/log`).catch(ifGone),
  ]);
  return { ...job, ...(payload && { payload: payload.payload }), ...(log && { lines: log.lines }) };
}

function ifGone(error: unknown): undefined {
  if (!(error instanceof Refused && error.status === 404)) throw error;
}

async function watch(id: string, { api, out }: Tools): Promise<ExitCode> {
  const printed = new Set<string>();
  const ended = await follow({
    poll: () => api.get<Job>(pathTo`/v1/jobs/${id}`),
    everyMs: POLL_EVERY_MS,
    show: (seen) => {
      if (!out.isJson) printNewEntries(seen, printed, out);
    },
    hasEnded,
  });
  out.answer(ended, finalLines);
  return ended.state === 'completed' ? 0 : 1;
}

/** Prints each timeline entry once and keeps the progress in the status line. */
function printNewEntries(
  { id, state, progress, timeline }: Job,
  printed: Set<string>,
  out: Tools['out'],
): void {
  if (printed.size === 0) out.print(`Watching ${clean(id)}`);
  for (const entry of timeline) {
    const key = [entry.at, entry.event, entry.attempt].join(' ');
    if (printed.has(key)) continue;
    printed.add(key);
    out.print(renderEntry(entry, timeline[0]!, out.screen));
  }
  out.live(`${clean(state)}${progress ? `, progress ${show(progress)}` : ''}`);
}

function finalLines(ended: Job, screen: Screen): string {
  const { result, error } = ended;
  const lines = [jobSentence(ended, screen)];
  if (result !== null) lines.push(`Result: ${show(result)}`);
  if (error) lines.push(`Error: ${clean(error)}`);
  return lines.join('\n');
}

const ENDED = ['completed', 'failed', 'cancelled', 'expired', 'skipped', 'removed'];
const STYLES: Readonly<Record<string, Style>> = { completed: 'green', running: 'yellow', failed: 'red' };

function hasEnded({ state }: Job): boolean {
  return ENDED.includes(state);
}

export function renderJob(job: WholeJob, screen: Screen): string {
  return sections(
    jobSentence(job, screen),
    facts(
      [
        ['kind', `${job.kind} (queue ${job.queue})`],
        ['owners', job.owners?.join(', ')],
        ['attempts', job.state === 'removed' ? undefined : job.attempts],
        ['progress', job.progress ? show(job.progress) : undefined],
        ['result', job.result === null ? undefined : show(job.result)],
        ['error', job.state === 'removed' ? undefined : (job.error ?? undefined)],
        ['artifacts', job.artifacts?.map(({ name, size }) => `${name} (${plural(size, 'byte')})`).join(', ')],
      ],
      screen,
    ),
    renderTimeline(job.timeline ?? [], screen),
    job.payload === undefined
      ? ''
      : `${screen.paint('dim', 'payload')}\n${cleanLines(JSON.stringify(job.payload, null, 2))}`,
    renderLog(job.lines ?? [], screen),
  );
}

/** A removed job has no record besides its reason. */
function jobSentence({ id, state, error }: Job, { paint }: Screen): string {
  const verb = state === 'failed' ? '' : state === 'removed' ? 'was ' : 'is ';
  const word = paint(STYLES[state] ?? 'bold', clean(state));
  return `${clean(id)} ${verb}${word}${state === 'removed' && error ? `: ${clean(error.replace(/^removed: /, ''))}` : ''}.`;
}

function renderTimeline(timeline: readonly TimelineEntry[], screen: Screen): string {
  const [first] = timeline;
  if (!first) return '';
  return table(
    (['at', 'since', 'event', 'attempt', ['why', 'cut']] as const).slice(
      0,
      timeline.some(({ why }) => why) ? 5 : 4,
    ),
    timeline.map((entry) => [entry.at, since(first, entry), entry.event, entry.attempt, entry.why]),
    screen,
  );
}

function renderLog(lines: Log['lines'], screen: Screen): string {
  const rows = lines.map(({ at, level, text }) => [at, level, text]);
  return rows.length > 0 ? table(['at', 'level', ['log', 'cut']], rows, screen) : '';
}

/** One timeline entry as a line, for `--watch`. */
function renderEntry(entry: TimelineEntry, first: TimelineEntry, { paint }: Screen): string {
  const { at, event, attempt, why } = entry;
  const told = [event, ...(attempt === undefined ? [] : [`attempt ${attempt}`]), ...(why ? [why] : [])];
  return `${paint('dim', clean(at))}  ${since(first, entry).padEnd(7)}  ${clean(told.join(', '))}`;
}

function since(first: TimelineEntry, entry: TimelineEntry): string {
  const ms = Date.parse(entry.at) - Date.parse(first.at);
  return entry === first || Number.isNaN(ms) ? '' : `+${span(Math.max(0, ms))}`;
}
