import type { Audit, Cancellations, Kinds, Owners, Quarantine, Workers } from '../answers.js';
import { list } from '../list.js';
import { ago } from '../render/text.js';

/** Lists that are no more than a call and its columns. */

export const ownersCommand = list<Owners, 'owners'>({
  name: 'owners',
  description: 'list the owners that have unfinished jobs or a record, such as closed ones',
  example: 'owners --type trip --state open',
  pages: 100,
  filters: {
    type: { value: '<type>', description: 'only owners of this type' },
    prefix: { value: '<text>', description: 'how the id begins, with --type; or the name, as in trip:4' },
    state: { value: '<open|closed>', of: ['open', 'closed'], description: 'only owners in this state' },
  },
  columns: [
    'owner',
    'state',
    ['jobs', ({ counts }) => counts.jobs],
    ['running', ({ counts }) => counts.running],
    'oldest job:oldestJobMs',
  ],
});

export const cancellationsCommand = list<Cancellations, 'cancellations'>({
  name: 'cancellations',
  description: 'list cancellations, newest first',
  example: 'cancellations --open',
  pages: 100,
  filters: { open: { description: 'only those whose jobs have not all left' } },
  columns: [
    'cancelId',
    ['of', ({ owner, job }) => job ?? owner],
    ...(['done', 'removed', 'aborted', 'running', 'by?', 'age:at', 'reason~'] as const),
  ],
});

export const kindsCommand = list<Kinds, 'kinds'>({
  name: 'kinds',
  description: 'list the kinds of jobs, with their defaults',
  example: 'kinds',
  columns: ['kind:name', 'queue', 'class?', 'attempts', 'timeout:timeoutMs?', 'dedup?', 'offered', 'hides~'],
});

export const workersCommand = list<Workers, 'workers'>({
  name: 'workers',
  description: 'list the worker processes, their last heartbeat, and what they run',
  example: 'workers --watch',
  columns: [
    'worker:id',
    ['host', ({ host, pid }) => `${host} (${pid})`],
    ...(['version?', 'state', 'age:startedAt'] as const),
    ['heartbeat', ({ heartbeatAt }) => `${ago(heartbeatAt)} ago`],
    ['queues', ({ queues }) => queues.map(({ queue }) => queue).join(', '), 'cut'],
    'running',
    ['runs', ({ runs }) => runs.map(({ jobId, since }) => `${jobId} for ${ago(since)}`).join(', '), 'cut'],
  ],
});

export const quarantineCommand = list<Quarantine, 'jobs'>({
  name: 'quarantine',
  description: 'list the ended jobs that retention could not remove',
  example: 'quarantine',
  path: () => '/v1/admin/quarantine',
  key: 'jobs',
  pages: 'cursor',
  columns: ['job:jobId', 'age:at', 'why~'],
  empty: 'No job is in quarantine.',
  below: ({ jobs }) => (jobs.length > 0 ? 'To try again: mooring sweep retention --force' : ''),
});

export const auditCommand = list<Audit, 'entries'>({
  name: 'audit',
  description: 'list what callers changed or were refused, newest first',
  example: 'audit --who night --since 2026-11-20T00:00:00Z',
  path: () => '/v1/admin/audit',
  key: 'entries',
  pages: 1_000,
  filters: {
    who: { value: '<name>', description: 'only by the key of this name' },
    what: { value: '<action>', description: 'only this action, as in owner.cancel' },
    since: { value: '<time>', description: 'only at this time and later' },
  },
  columns: ['at', 'who', 'what', 'on~', 'outcome', 'status?', 'requestId?'],
  empty: 'There are no such entries.',
});
