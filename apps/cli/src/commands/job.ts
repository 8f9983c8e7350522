import type { Job, TimelineEntry } from '../answers.js';
import type { ParsedArgs } from '../arguments.js';
import type { Command, ExitCode, Tools } from '../command.js';
import { follow } from '../follow.js';
import type { Paint, Style } from '../output.js';
import { onlyWord, WrongUsage } from '../problems.js';
import { facts, table } from '../render/table.js';
import { clean, plural, show, span } from '../render/text.js';

const POLL_EVERY_MS = 300;

export const jobCommand: Command = {
  name: 'job',
  usage: ['job <id> [--watch]'],
  description: 'show a job and its timeline',
  options: {
    watch: { description: 'follow it until it ends; exit code 0 only if it completes' },
  },
  run: (parsed, tools) => (parsed.has('watch') ? watch(parsed, tools) : read(parsed, tools)),
};

async function read(parsed: ParsedArgs, { api, out }: Tools): Promise<ExitCode> {
  out.answer(await api.get<Job>(jobPath(parsed.words)), renderJob);
  return 0;
}

async function watch(parsed: ParsedArgs, { api, out }: Tools): Promise<ExitCode> {
  const path = jobPath(parsed.words);
  const printed = new Set<string>();
  const ended = await follow({
    poll: () => api.get<Job>(path),
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
    out.print(renderEntry(entry, timeline[0]!, out.paint));
  }
  out.live(`${clean(state)}${progress ? `, progress ${show(progress)}` : ''}`);
}

function finalLines(ended: Job, paint: Paint): string {
  const { result, error } = ended;
  const lines = [jobSentence(ended, paint)];
  if (result !== null) lines.push(`Result: ${show(result)}`);
  if (error) lines.push(`Error: ${clean(error)}`);
  return lines.join('\n');
}

export function jobPath(words: readonly string[]): string {
  const id = onlyWord(words, 'job', 'Name the job by its id, as printed by enqueue.');
  // URLs resolve `.` and `..`; no job has such an id.
  if (id === '.' || id === '..') throw new WrongUsage(`"${id}" is not a job id.`);
  return `/v1/jobs/${encodeURIComponent(id)}`;
}

const ENDED = ['completed', 'failed', 'cancelled', 'expired', 'skipped', 'removed'];
const STYLES: Readonly<Record<string, Style>> = { completed: 'green', running: 'yellow', failed: 'red' };

function hasEnded({ state }: Job): boolean {
  return ENDED.includes(state);
}

export function renderJob(job: Job, paint: Paint): string {
  return [
    jobSentence(job, paint),
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
      paint,
    ),
    renderTimeline(job.timeline ?? [], paint),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** A removed job has no record besides its reason. */
function jobSentence({ id, state, error }: Job, paint: Paint): string {
  const verb = state === 'failed' ? '' : state === 'removed' ? 'was ' : 'is ';
  const word = paint(STYLES[state] ?? 'bold', clean(state));
  return `${clean(id)} ${verb}${word}${state === 'removed' && error ? `: ${clean(error)}` : ''}.`;
}

function renderTimeline(timeline: readonly TimelineEntry[], paint: Paint): string {
  const [first] = timeline;
  if (!first) return '';
  return table(
    ['at', 'since', 'event', 'attempt', 'why'].slice(0, timeline.some(({ why }) => why) ? 5 : 4),
    timeline.map((entry) => [entry.at, since(first, entry), entry.event, entry.attempt, entry.why]),
    paint,
  );
}

/** One timeline entry as a line, for `--watch`. */
function renderEntry(entry: TimelineEntry, first: TimelineEntry, paint: Paint): string {
  const { at, event, attempt, why } = entry;
  const words = [event, ...(attempt === undefined ? [] : [`attempt ${attempt}`]), ...(why ? [why] : [])];
  return `${paint('dim', clean(at))}  ${since(first, entry).padEnd(7)}  ${clean(words.join(', '))}`;
}

function since(first: TimelineEntry, entry: TimelineEntry): string {
  const ms = Date.parse(entry.at) - Date.parse(first.at);
  return entry === first || Number.isNaN(ms) ? '' : `+${span(Math.max(0, ms))}`;
}
