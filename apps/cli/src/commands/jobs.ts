import { pathTo } from '../api.js';
import type { Job, Jobs } from '../answers.js';
import { ask } from '../ask.js';
import type { OptionSpecs } from '../arguments.js';
import { list } from '../list.js';
import { WrongUsage } from '../problems.js';
import { named } from '../words.js';
import { renderJob } from './job.js';

const STATES = 'waiting delayed running retrying completed failed cancelled expired skipped removed'.split(
  ' ',
);

/** What selects jobs, in lists and in operations. */
export const JOB_FILTERS: OptionSpecs = {
  queue: { value: '<queue>', description: 'only jobs of this queue' },
  kind: { value: '<kind>', description: 'only jobs of this kind' },
  state: { value: '<state>', of: STATES, description: `only jobs in this state: ${STATES.join(', ')}` },
  owner: { value: '<type:id>', description: 'only jobs of this owner' },
  error: { value: '<text>', description: 'only jobs whose failure contains this text; case matters' },
};

const STATES_HELP = `States: a job that failed and will be tried again is retrying; failed jobs have no attempts left. A job that was cancelled
before it began, or removed by an operation or by retention, is removed; cancelled while it ran, or replaced, cancelled. Expired
jobs did not start in time, skipped ones were not wanted when their turn came. Jobs in these four states (removed, cancelled,
expired, skipped) are gone, and are listed only by --state.`;

export const jobsCommand = list<Jobs, 'jobs'>({
  name: 'jobs',
  description: 'list jobs, newest first',
  example: "jobs --state failed --error 'timed out'",
  more: STATES_HELP,
  pages: 1_000,
  filters: JOB_FILTERS,
  columns: ['job:id', 'kind', 'queue?', 'state', 'owners?', 'attempts?', 'age:acceptedAt?', 'error~'],
});

export const promoteCommand = ask<Job>({
  name: 'jobs promote',
  description: 'let a delayed job wait now',
  example: 'jobs promote probe-4kQ…',
  words: named('jobId'),
  call: (api, [id]) => api.post(pathTo`/v1/jobs/${id!}/promote`),
  render: renderJob,
});

export const priorityCommand = ask<Job>({
  name: 'jobs priority',
  description: 'give a job that has not begun another priority; 1 is the most urgent',
  example: 'jobs priority probe-4kQ… 1',
  words: named('jobId', 'priority'),
  call: (api, [id, typed]) => {
    const priority = /^\d{1,3}$/.test(typed!) ? Number(typed) : 0;
    if (priority < 1 || priority > 200)
      throw new WrongUsage(`The priority must be a whole number from 1 to 200; got "${typed}".`);
    return api.post(pathTo`/v1/jobs/${id!}/priority`, { body: { priority } });
  },
  render: renderJob,
});
