import type { Job } from '../answers.js';
import type { ParsedArgs } from '../arguments.js';
import type { Command, ExitCode, Tools } from '../command.js';
import { follow } from '../follow.js';
import type { Paint } from '../output.js';
import { onlyWord, WrongUsage } from '../problems.js';
import { hasEnded, jobSentence, renderEntry, renderJob } from '../render/job.js';
import { clean, show } from '../render/text.js';

const POLL_EVERY_MS = 300;

export const job: Command = {
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
