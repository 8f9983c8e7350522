export const DESCRIPTION = [
  'A BullMQ worker fleet in which every job is moored to an owner.',
  'Durations are strings with a unit (`500ms`, `30s`, `5m`, `24h`, `7d`) or a number of milliseconds.',
  'Errors are `application/problem+json` (RFC 9457) with a `code`. Answers may gain members.',
].join(' ');

export const TAGS: Readonly<Record<string, string>> = {
  jobs: 'Enqueue, find, read, cancel and repair jobs.',
  flows: 'Trees of jobs in which each job waits for its children.',
  schedules: 'Recurring jobs. They belong to owners and end with them.',
  owners: 'What jobs are for. When an owner is cancelled, its jobs go.',
  cancellations: 'Receipts: what a cancellation removed, aborted and waits for.',
  operations: 'Retry, cancel or remove many jobs in the background.',
  events: 'CloudEvents of other services that cancel owners.',
  fleet: 'The kinds of jobs and the processes that take them.',
  admin: 'Queues, slots and sweeps.',
  trips: 'Workload: rides that are offered to several drivers.',
  diagrams: 'Workload: diagrams as SVG and PNG.',
  sites: 'Workload: static sites that are rebuilt when their entities change.',
  leases: 'Workload: containers that are held for a while.',
};
