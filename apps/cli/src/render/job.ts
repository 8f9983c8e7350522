import type { Job, TimelineEntry } from '../answers.js';
import type { Paint, Style } from '../output.js';
import { facts, table } from './table.js';
import { clean, plural, show, span } from './text.js';

const ENDED = ['completed', 'failed', 'cancelled', 'expired', 'skipped', 'removed'];
const STYLES: Readonly<Record<string, Style>> = { completed: 'green', running: 'yellow', failed: 'red' };

export function hasEnded({ state }: Job): boolean {
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
export function jobSentence({ id, state, error }: Job, paint: Paint): string {
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
export function renderEntry(entry: TimelineEntry, first: TimelineEntry, paint: Paint): string {
  const { at, event, attempt, why } = entry;
  const words = [event, ...(attempt === undefined ? [] : [`attempt ${attempt}`]), ...(why ? [why] : [])];
  return `${paint('dim', clean(at))}  ${since(first, entry).padEnd(7)}  ${clean(words.join(', '))}`;
}

function since(first: TimelineEntry, entry: TimelineEntry): string {
  const ms = Date.parse(entry.at) - Date.parse(first.at);
  return entry === first || Number.isNaN(ms) ? '' : `+${span(Math.max(0, ms))}`;
}
