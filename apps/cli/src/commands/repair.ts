import { pathTo } from '../api.js';
import type { Job } from '../answers.js';
import type { ParsedArgs } from '../arguments.js';
import type { Command } from '../command.js';
import { WrongUsage } from '../problems.js';
import { named } from '../words.js';
import { cancelJob } from './cancel.js';
import { renderJob } from './job.js';
import { COUNTS, DRY_RUN, operate, OPERATION_FILTERS } from './operations.js';

/** Commands that change one job by its id, or many by filters. */

const MANY = { ...OPERATION_FILTERS, ...DRY_RUN };
const jobId = named('jobId');
const BY_FILTER = `With filters it starts an operation and follows it; exit code 0 only if no job failed or was refused.\n\n${COUNTS}`;

export const retryCommand: Command = {
  name: 'jobs retry',
  alias: 'retry',
  forms: ['<jobId> [--reset]', '<filters> [--dry-run]'],
  description: 'let a failed job, or all that the filters name, wait again',
  example: "retry --kind media.thumbnail --error 'timed out' --dry-run",
  options: { reset: { description: 'give the job all attempts of its kind again' }, ...MANY },
  more: `A retried job gets one more attempt; with --reset, which only a single job can have, its attempts are counted from 0 again. ${BY_FILTER}`,
  run: async (parsed, tools) => {
    if (isAboutMany(parsed, retryCommand, ['reset'])) return operate('retry', parsed, tools);
    const body = parsed.has('reset') ? { reset: true } : {};
    tools.out.answer(
      await tools.api.post<Job>(pathTo`/v1/jobs/${parsed.words[0]!}/retry`, { body }),
      renderJob,
    );
    return 0;
  },
};

export const cancelJobsCommand: Command = {
  name: 'jobs cancel',
  forms: ['<jobId>', '<filters> [--dry-run]'],
  description: 'cancel a job, or all that the filters name',
  example: 'jobs cancel --queue media --state delayed --dry-run',
  options: MANY,
  more: `To cancel an owner with all its jobs: mooring cancel. ${BY_FILTER}`,
  run: async (parsed, tools) => {
    if (isAboutMany(parsed, cancelJobsCommand)) return operate('cancel', parsed, tools);
    return cancelJob(parsed.words[0]!, tools);
  },
};

export const removeJobsCommand: Command = {
  name: 'jobs remove',
  forms: ['<filters> [--dry-run]'],
  description: 'remove the completed and failed jobs that the filters name, with their artifacts',
  example: 'jobs remove --state failed --before 2026-11-01T00:00:00Z --dry-run',
  options: MANY,
  more: BY_FILTER,
  run: (parsed, tools) => {
    if (isAboutMany(parsed, removeJobsCommand)) return operate('remove', parsed, tools);
    throw new WrongUsage('Name the jobs by filters; an ended job cannot be removed by its id.');
  },
};

/** Whether filters name the jobs; else one word does. `single`: options that only one job has. */
function isAboutMany(
  parsed: ParsedArgs,
  { example, forms }: Command,
  single: readonly string[] = [],
): boolean {
  const filter = Object.keys(OPERATION_FILTERS).find((name) => parsed.has(name));
  if (parsed.words.length > 0 && (filter ?? (parsed.has('dry-run') && 'dry-run')))
    throw new WrongUsage(`Name one job by its id, or many by filters: "${parsed.words[0]}" is an id.`);
  const lone = single.find((name) => parsed.has(name));
  if (filter && lone) throw new WrongUsage(`--${lone} cannot be combined with --${filter}.`);
  if (!filter && parsed.has('dry-run')) throw new WrongUsage('--dry-run requires a filter, such as --kind.');
  if (!filter && parsed.words.length === 0)
    throw new WrongUsage(`Name ${forms.length > 1 ? 'a jobId or ' : ''}filters, as in: mooring ${example}`);
  if (!filter) jobId.read(parsed.words, example);
  return filter !== undefined;
}
