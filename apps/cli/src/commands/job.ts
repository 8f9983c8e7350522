import type { Job } from '../answers.js';
import type { Given } from '../arguments.js';
import type { Command, ExitCode, Tools } from '../command.js';
import { follow } from '../follow.js';
import { WrongUsage } from '../problems.js';
import { hasEnded, jobSentence, renderEntry, renderJob } from '../render/job.js';
import { clean, show } from '../render/text.js';

const LOOK_EVERY_MS = 300;

export const job: Command = {
  name: 'job',
  usage: ['job <id> [--watch]'],
  says: 'a job, with what happened to it',
  options: {
    watch: { says: 'follow it until it ended; the exit code is then 0 only if it completed' },
  },
  run: (given, tools) => (given.has('watch') ? watch(given, tools) : read(given, tools)),
};

async function read(given: Given, { api, out }: Tools): Promise<ExitCode> {
  const found = await api.get<Job>(jobPath(given.words));
  if (out.isJson) out.json(found);
  else out.print(renderJob(found, out.paint));
  return 0;
}

async function watch(given: Given, { api, out }: Tools): Promise<ExitCode> {
  const path = jobPath(given.words);
  const told = new Set<string>();
  const ended = await follow({
    look: () => api.get<Job>(path),
    everyMs: LOOK_EVERY_MS,
    show: (seen) => {
      if (!out.isJson) tellNews(seen, told, out);
    },
    hasEnded,
  });
  if (out.isJson) out.json(ended);
  else out.print(watchedToItsEnd(ended, out));
  return ended.state === 'completed' ? 0 : 1;
}

/** Each entry once, as it comes; how far the run is stands below. */
function tellNews({ id, state, progress, timeline }: Job, told: Set<string>, out: Tools['out']): void {
  if (told.size === 0) out.print(`Watching ${clean(id)}`);
  for (const entry of timeline) {
    const key = [entry.at, entry.event, entry.attempt].join(' ');
    if (told.has(key)) continue;
    told.add(key);
    out.print(renderEntry(entry, timeline[0]!, out.paint));
  }
  out.live(`${clean(state)}${progress ? `, progress ${show(progress)}` : ''}`);
}

function watchedToItsEnd(ended: Job, out: Tools['out']): string {
  const { result, error } = ended;
  const lines = [jobSentence(ended, out.paint)];
  if (result !== null) lines.push(`Its result: ${show(result)}`);
  if (error) lines.push(`Its error: ${clean(error)}`);
  return lines.join('\n');
}

/** The path of the job that the words name. */
export function jobPath(words: readonly string[]): string {
  const [id, ...rest] = words;
  if (!id) throw new WrongUsage('Say which job: its id, as enqueue printed it.');
  if (rest.length > 0) throw new WrongUsage(`One job at a time: "${rest.join(' ')}" is too much.`);
  // In an address these mean another place; an id is never one of them.
  if (id === '.' || id === '..') throw new WrongUsage(`"${id}" is no id of a job.`);
  return `/v1/jobs/${encodeURIComponent(id)}`;
}
