import type { ServerSent } from './server-sent.js';

interface JobFacts {
  readonly data?: { readonly jobId?: string; readonly owner?: string; readonly queue?: string };
  readonly subject?: string;
}

const factsOf = ({ data }: ServerSent): JobFacts => data as JobFacts;

export const ofJobs = ({ name }: ServerSent): boolean => name.startsWith('job') || name === 'queues';
export const ofQueues = ({ name }: ServerSent): boolean => name === 'queues';
export const ofOwners = ({ name }: ServerSent): boolean => name.startsWith('owner.') || name === 'queues';
export const ofCancels = ({ name }: ServerSent): boolean => name.startsWith('owner.');
export const ofSweeps = ({ name }: ServerSent): boolean => name.startsWith('sweep.');

/** A summary names no jobs, so it may be about this one. A job that begins is seen by the counts of its queue. */
export const ofJob =
  (id: string) =>
  (event: ServerSent): boolean =>
    event.name === 'jobs' || event.name === 'queues' || factsOf(event).subject === id;
