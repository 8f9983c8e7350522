// Written by `npm run openapi` from docs/openapi.json. Do not edit it.

export type EventResults = {
  /** One result per event, in order. */
  results: {
    /** 200. In a batch also the status that an invalid event alone would get, but never 503. */
    status?: number;
    id?: string;
    source?: string;

    /** late: the owner was reopened after the event; nothing was done. */
    outcome?: 'cancelled' | 'ignored' | 'late';
    owner?: string;

    /** Id of the receipt. */
    cancelId?: string;
    why?: string;
  }[];
};

export type Cancellations = {
  /** Newest first. */
  cancellations: Receipt[];

  /** Cursor of the next page; null on the last page. */
  cursor: string | null;
};

export type Receipt = {
  cancelId: string;
  owner: string;

  /** Set if a single job was cancelled instead of the whole owner. */
  job?: string;

  /** Generation of the owner after the cancellation. */
  epoch: string | null;
  reason: string;
  by: string;
  at: string;
  closed: boolean;

  /** Jobs removed from their queues or refused when they were due. None of them ever starts. */
  removed: number;

  /** Runs that were told to stop. */
  aborted: number;

  /** Aborted runs that stopped when told. */
  acknowledged: number;

  /** Aborted runs that were abandoned after their grace period. */
  ignored: number;

  /** Aborted runs that are still running. */
  running: number;
  byQueue: Record<
    string,
    {
      /** By state before the removal. */
      removed: Record<string, number>;
      aborted: number;
      running: number;
    }
  >;

  /** Schedules that ended with the owner. */
  schedules: number;

  /** Nothing of it remains in any queue or index. */
  done: boolean;

  /** Whether it was as durable as asked before the answer. False without durability. */
  durable: boolean;

  /** Cancels wait until they are durable: `durable: false` says that this was not confirmed. */
  mustBeDurable?: true;
  late?: true;

  /** Nothing was cancelled: the counts are what a cancel would do, `by` and `at` are who asked, and when. */
  dryRun?: true;

  /** Set if the orphan sweep cancelled the owner because it no longer exists. */
  why?: 'orphan';
};

export type Flow = {
  kind: string;

  /** A child without owners has those of its parent. */
  owners?: string[];

  /** Must match the kind's schema. */
  payload?: unknown;

  /** What happens to this job if a child does not complete. Inherited from the parent; default fail. */
  onChildFailure?: 'fail' | 'continue' | 'ignore';

  /** Jobs of the same shape, at most 5 deep and 100 in all. */
  children?: unknown[];
};

export type FlowTicket = {
  id: string;
  kind: string;
  queue: string;
  owners: string[];

  /** Tickets of the same shape. */
  children: unknown[];

  /** Whether it was as durable as asked before the answer. Absent without durability. */
  durable?: boolean;
};

export type FlowTree = {
  id: string;
  kind: string;
  queue: string;
  owners: string[];
  state:
    | 'waiting'
    | 'delayed'
    | 'running'
    | 'retrying'
    | 'completed'
    | 'failed'
    | 'cancelled'
    | 'expired'
    | 'skipped'
    | 'removed';
  error: string | null;

  /** Jobs of the same shape, without parent. */
  children: unknown[];

  /** The job that waits for this one. */
  parent: string | null;
};

export type EnqueueJob = {
  kind: string;

  /** One to four owners, as in trip:42. The first is the primary owner. */
  owners: string[];

  /** Must match the kind's schema. */
  payload?: unknown;

  /** 1 is the most urgent; default 100. Compared with jobs of the same class of kinds. */
  priority?: number;

  /** At most `limit` jobs of the key run at once; with `rate`, up to `max` start at once and one more every `per`/`max`. The first use of a key sets its limit and rate; others are refused. */
  slot?: {
    key: string;
    limit: number;
    rate?: {
      max: number;

      /** Milliseconds, or a number with a unit: 500ms, 30s, 5m, 24h, 7d. */
      per: number | string;
    };
  };

  /** What to do while a job with the same owners, kind and key is pending. */
  dedup?: {
    strategy: 'none' | 'skip' | 'replace' | 'coalesce';
    key?: string;

    /** With `coalesce`: the job starts this long after its first trigger at the latest. */
    longestWait?: number | string;
  };

  /** How long after it is due the job may still start. */
  expiresIn?: number | string;

  /** Milliseconds, or a number with a unit: 500ms, 30s, 5m, 24h, 7d. */
  delay?: number | string;
};

export type Ticket = {
  outcome: 'created' | 'skipped' | 'coalesced' | 'replaced';
  id: string;
  kind: string;
  queue: string;
  owners: string[];
  replaced?: string;

  /** Whether it was as durable as asked before the answer. Absent without durability. */
  durable?: boolean;
};

export type EnqueueBatch = { jobs: unknown[] };

export type BatchResults = {
  /** One result per job, in order. */
  results: { status: number }[];
};

export type Jobs = {
  /** Newest first. */
  jobs: ListedJob[];

  /** Cursor of the next page; null on the last page. A page may hold fewer jobs than asked, or none, and a cursor. */
  cursor: string | null;
};

export type ListedJob = {
  id: string;
  kind: string;
  queue: string;
  owners: string[];
  state:
    | 'waiting'
    | 'delayed'
    | 'running'
    | 'retrying'
    | 'completed'
    | 'failed'
    | 'cancelled'
    | 'expired'
    | 'skipped'
    | 'removed';

  /** At most 2,000 characters of the failure, or why it was removed. */
  error: string | null;
  attempts: number;
  acceptedAt: string;

  /** When its last run began. */
  beganAt: string | null;
  endedAt: string | null;

  /** When a delayed or retrying job is due. */
  dueAt: string | null;
};

export type Job = {
  id: string;
  kind: string;
  queue: string;
  owners: string[];
  state:
    | 'waiting'
    | 'delayed'
    | 'running'
    | 'retrying'
    | 'completed'
    | 'failed'
    | 'cancelled'
    | 'expired'
    | 'skipped'
    | 'removed';
  progress: unknown;
  result: unknown;
  error: string | null;

  /** Why the job was removed. */
  why?: string;
  attempts: number;
  artifacts: { name: string; size: number; contentType: string; sha256: string; href: string }[];
  timeline: {
    at: string;
    event:
      | 'accepted'
      | 'deduplicated'
      | 'began'
      | 'waiting-for-slot'
      | 'failed'
      | 'retrying'
      | 'aborted'
      | 'completed'
      | 'cancelled'
      | 'expired'
      | 'skipped'
      | 'removed';
    attempt?: number;
    why?: string;
  }[];
};

export type JobPayload = {
  id: string;
  kind: string;

  /** Fields that the kind hides are "[hidden]". */
  payload: unknown;
};

export type JobLog = {
  id: string;

  /** What the runs of the job logged, oldest first: the first hundred lines of each. */
  lines: { at: string | null; level: string; text: string }[];
};

export type Retry = {
  /** Count the attempts of the job from 0 again. */
  reset?: boolean;
} | null;

export type SetPriority = { priority: number };

export type Kinds = {
  kinds: {
    name: string;
    queue: string;
    class: string;
    attempts: number;
    timeoutMs: number;
    graceMs: number;
    expiresInMs: number | null;
    dedup: string;
    maxPayloadBytes: number;
    keep: { completed: { ageMs: number; count: number }; failed: { ageMs: number; count: number } };
    artifacts: boolean;

    /** Whether callers may enqueue its jobs. */
    offered: boolean;

    /** Fields of its payloads that are never shown. */
    hides: string[];
  }[];
};

export type StartOperation = {
  action: 'retry' | 'cancel' | 'remove';

  /** The operation is about jobs for which all of it is true. */
  filter: {
    queue?: string;
    kind?: string;

    /** retry: failed. cancel: waiting, delayed, retrying or running. remove: completed or failed. Default: each of these. */
    state?: 'waiting' | 'delayed' | 'retrying' | 'running' | 'completed' | 'failed';

    /** One of its owners, as in trip:42. */
    owner?: string;

    /** A part of the text of its failure. */
    error?: string;

    /** It ended before this time. A job that has not ended was accepted before. */
    before?: string;
  };

  /** Only count the jobs and return samples; change nothing. */
  dryRun?: boolean;
};

export type OperationAsked = { operationId: string };

export type Operations = {
  /** Newest first. */
  operations: Operation[];

  /** Cursor of the next page; null on the last page. */
  cursor: string | null;
};

export type Operation = {
  operationId: string;
  action: 'retry' | 'cancel' | 'remove';
  filter: Record<string, string>;
  dryRun: boolean;

  /** asked: no janitor has begun it yet. stopping: it ends after the page that it is at. */
  state: 'asked' | 'running' | 'stopping' | 'stopped' | 'done' | 'failed';

  /** Jobs it has looked at. */
  seen: number;

  /** Jobs that its filter names, so far. It fails if there are none and there is no such kind. */
  matched: number;
  done: number;

  /** Jobs that it could not change because of an error. */
  failed: number;

  /** Jobs that must not be changed, such as those of a closed owner. They keep their error. */
  refused: number;

  /** Jobs that had changed when their turn came. */
  skipped: number;

  /** The first jobs that matched, at most 20. */
  samples: {
    id: string;
    kind: string;
    queue: string;
    owners: string[];
    state: 'waiting' | 'delayed' | 'retrying' | 'running' | 'completed' | 'failed';
    error: string | null;
  }[];

  /** Of a dry run: how many of the jobs that matched have each kind and error, the 10 largest groups first. The first 100 groups are counted. */
  groups?: {
    kind: string;

    /** First line of the failure, at most 200 characters; null without one. */
    error: string | null;
    count: number;
  }[];

  /** The first refused and failed jobs, at most 100. */
  problems: { id: string; outcome: 'refused' | 'failed'; code: string; why: string }[];

  /** Name of the key that started it. */
  by: string;
  startedAt: string;
  endedAt?: string;
  why?: string;
};

export type Owners = {
  /** By name. */
  owners: {
    owner: string;
    state: 'open' | 'closed';
    counts: { jobs: number; running: number };

    /** How long its oldest job has been there; null without jobs. */
    oldestJobMs: number | null;

    /** Of how many of its jobs `running` and `oldestJobMs` are: at most about 100, on long pages fewer. */
    lookedAt: number;
  }[];

  /** Cursor of the next page; null on the last page. */
  cursor: string | null;
};

export type Owner = {
  owner: string;
  state: 'open' | 'closed';

  /** Generation of the owner; null if it has no jobs and is not closed. */
  epoch: string | null;

  /** Of the whole owner. `running`: also cancelled jobs, until they have stopped. `ending`: cancelled jobs that are still there. */
  counts: { jobs: number; running: number; ending: number };
  jobs: { id: string; queue: string; kind: string; state: string; acceptedAt: string; hasBegun: boolean }[];

  /** Cursor of the next page; null on the last page. */
  cursor: string | null;
};

export type Cancel = {
  /** Stored in the receipt and the history. */
  reason?: string;

  /** Refuse new jobs until the owner is reopened. Default true. */
  close?: boolean;

  /** Answer when nothing of the owner runs any more. */
  wait?: 'drained';

  /** Longest wait. Default 30s, at most 2m. */
  waitFor?: number | string;

  /** Repeating a call with the same id returns the same receipt. */
  cancelId?: string;

  /** Report what would be cancelled; change nothing. */
  dryRun?: boolean;
} | null;

export type Reopened = { owner: string; state: 'open'; epoch: string };

export type History = {
  owner: string;
  entries: {
    id: string;
    queue: string;
    kind?: string;
    owners?: string[];

    /** State before the removal. */
    state: string;
    at: string;

    /** cancelled, orphan, expired, replaced or removed. */
    why: string;
    reason?: string;
    by?: string;
    cancelId?: string;
  }[];

  /** Cursor of the next page; null on the last page. */
  cursor: string | null;
};

export type Quarantine = {
  /** Finished jobs that could not be removed, oldest first. A sweep with force tries again. */
  jobs: { jobId: string; at: string; why: string }[];

  /** Cursor of the next page; null on the last page. */
  cursor: string | null;
};

export type Queues = {
  queues: {
    queue: string;

    /** Number of jobs by state. */
    counts: Record<string, number>;

    /** How long the oldest waiting job has been due; null when none waits. */
    oldestWaitingMs: number | null;

    /** No job of the queue starts; running jobs continue. */
    paused: boolean;
  }[];
};

export type Paused = { queue: string; paused: boolean };

export type Schedules = {
  schedules: Schedule[];

  /** Cursor of the next page; null on the last page. */
  cursor: string | null;
};

export type Schedule = {
  id: string;
  kind: string;
  owners: string[];
  every: number | string | null;
  cron: string | null;
  timezone: string | null;
  nextAt: string;

  /** When it was last due. */
  lastAt: string | null;

  /** The job created at lastAt. */
  lastJobId: string | null;
  state: 'active';
  error: null;
};

export type PutSchedule = {
  kind: string;

  /** Owners of its jobs. Cancelling one of them ends the schedule. */
  owners: string[];

  /** Must match the kind's schema. */
  payload?: unknown;

  /** 1 is the most urgent; default 100. Compared with jobs of the same class of kinds. */
  priority?: number;

  /** At most `limit` jobs of the key run at once; with `rate`, up to `max` start at once and one more every `per`/`max`. The first use of a key sets its limit and rate; others are refused. */
  slot?: {
    key: string;
    limit: number;
    rate?: {
      max: number;

      /** Milliseconds, or a number with a unit: 500ms, 30s, 5m, 24h, 7d. */
      per: number | string;
    };
  };

  /** What to do while a job with the same owners, kind and key is pending. */
  dedup?: {
    strategy: 'none' | 'skip' | 'replace' | 'coalesce';
    key?: string;

    /** With `coalesce`: the job starts this long after its first trigger at the latest. */
    longestWait?: number | string;
  };

  /** How long after it is due the job may still start. */
  expiresIn?: number | string;

  /** Interval, from 1s to 365d. Set either this or cron. */
  every?: number | string;

  /** Five or six fields; with six, the first is the second. */
  cron?: string;

  /** Time zone of cron, as in Europe/Berlin; default UTC. */
  timezone?: string;
};

export type Slot = {
  key: string;

  /** null: the next job that uses the key sets it. */
  limit: number | null;

  /** Absent for a key without one. */
  rate?: {
    max: number;

    /** ms */
    per: number;
  };

  /** How long no job of the key may start because of its rate. */
  tokenInMs?: number;
  holding: number;
  waiting: number;

  /** The first hundred holders. */
  holders: { jobId: string; since: string }[];

  /** The first hundred waiting jobs. */
  waiters: string[];
};

export type SetSlotLimit = {
  limit?: number;

  /** null takes the rate away. */
  rate?: {
    max: number;

    /** Milliseconds, or a number with a unit: 500ms, 30s, 5m, 24h, 7d. */
    per: number | string;
  } | null;
};

export type SweepOrder = {
  /** Report what would be removed and why; remove nothing. */
  dryRun?: boolean;

  /** Remove even more at once than the limit allows. */
  force?: boolean;

  /** The cause of the trip is fixed: the sweep may remove again, within the limit. Has no effect in a dry run. */
  acknowledge?: boolean;
} | null;

export type SweepAsked = { sweepId: string };

export type Sweeps = {
  /** Newest first. */
  sweeps: Sweep[];

  /** Kinds that remove nothing until an operator acknowledges or forces a sweep, and why. */
  tripped: Record<string, { at: string; sweepId: string; why: string }>;
};

export type Sweep = {
  sweepId: string;
  sweep: 'orphans' | 'retention' | 'expiry' | 'artifacts' | 'leases' | 'repair';

  /** asked: no janitor has started it yet. stopped: the next janitor resumes it. */
  state: 'asked' | 'running' | 'done' | 'tripped' | 'stopped' | 'failed';
  dryRun: boolean;
  force: boolean;

  /** True if it was requested; absent if it was scheduled. */
  onRequest?: boolean;
  askedAt: string;
  endedAt?: string;
  seen: number;

  /** In a dry run: would be removed. */
  removed: number;
  kept: number;

  /** Items whose state could not be determined; they are kept. */
  unknown: number;
  failed: number;
  healed: number;

  /** Jobs removed together with the removed items. */
  jobs: number;

  /** Items that wait after a failure or are in quarantine. */
  waiting?: number;

  /** Approximate total of items, if known. */
  of?: number;
  tookMs: number;

  /** The longest time the store kept another client waiting during the sweep. */
  worstStallMs: number;
  why?: string;
};

export type SweepWithLines = {
  sweepId: string;
  sweep: 'orphans' | 'retention' | 'expiry' | 'artifacts' | 'leases' | 'repair';

  /** asked: no janitor has started it yet. stopped: the next janitor resumes it. */
  state: 'asked' | 'running' | 'done' | 'tripped' | 'stopped' | 'failed';
  dryRun: boolean;
  force: boolean;

  /** True if it was requested; absent if it was scheduled. */
  onRequest?: boolean;
  askedAt: string;
  endedAt?: string;
  seen: number;

  /** In a dry run: would be removed. */
  removed: number;
  kept: number;

  /** Items whose state could not be determined; they are kept. */
  unknown: number;
  failed: number;
  healed: number;

  /** Jobs removed together with the removed items. */
  jobs: number;

  /** Items that wait after a failure or are in quarantine. */
  waiting?: number;

  /** Approximate total of items, if known. */
  of?: number;
  tookMs: number;

  /** The longest time the store kept another client waiting during the sweep. */
  worstStallMs: number;
  why?: string;

  /** Removed items, or in a dry run items that would be removed, and why. */
  lines: { what: string; why: string }[];

  /** Cursor of the next page; null on the last page. */
  cursor: string | null;
};

export type Workers = {
  workers: {
    id: string;
    host: string;
    pid: number;
    version: string | null;
    state: 'running' | 'draining';
    startedAt: string;

    /** Every 10 s. What it runs is as of then. */
    heartbeatAt: string;
    queues: { queue: string; concurrency: number; kinds: string[] }[];
    running: number;

    /** The first hundred. */
    runs: { jobId: string; kind: string; queue: string; owner: string; attempt: number; since: string }[];
  }[];
};

export type AskForTrip = {
  /** Who asks. */
  customerId: string;

  /** Who is asked. */
  driverIds: string[];

  /** How long the trip may be accepted: default 5m, at most 24h. */
  expiresIn?: number | string;
};

export type Trip = {
  id: string;
  status: 'PENDING' | 'ACCEPTED' | 'CANCELLED' | 'EXPIRED' | 'COMPLETED';
  customerId: string;

  /** Who is asked, or was. */
  driverIds: string[];

  /** Who accepted. */
  driverId?: string;
  createdAt: string;
  expiresAt: string;
  acceptedAt?: string;
  endedAt?: string;

  /** Why it is over. */
  reason?: string;
};

export type TripDriver = { driverId: string };

export type CancelTrip = { reason?: string };

export type DriverAvailable = {
  /** False also withdraws the offer that the driver has. */
  available: boolean;
};

export type Driver = { id: string; available: boolean };

export type CreateDiagram = {
  /** `dot` and `vegalite` are names of graphviz and vega-lite. */
  type:
    | 'graphviz'
    | 'mermaid'
    | 'd2'
    | 'nomnoml'
    | 'vega-lite'
    | 'wavedrom'
    | 'pikchr'
    | 'bytefield'
    | 'svgbob'
    | 'dbml'
    | 'dot'
    | 'vegalite';

  /** At most 1048576 bytes. */
  source: string;
  output?: 'svg' | 'png';

  /** Whom it is for, as in trip:42. With him it goes. */
  owner?: string;
};

export type Diagram = {
  id: string;
  shortlink: string;

  /** Where its bytes are, or will be. */
  url: string;
  state: 'pending' | 'rendering' | 'completed' | 'failed' | 'cancelled' | 'removed';
  type:
    | 'graphviz'
    | 'mermaid'
    | 'd2'
    | 'nomnoml'
    | 'vega-lite'
    | 'wavedrom'
    | 'pikchr'
    | 'bytefield'
    | 'svgbob'
    | 'dbml';
  output: 'svg' | 'png';
  job: string | null;

  /** What draws it, with its version; who asks for it knows it at once, others once it is begun. */
  renderer: string | null;
  contentType: string | null;
  bytes: number | null;
  sha256: string | null;

  /** What its renderer says of it. */
  error: { message: string; line?: number; column?: number } | null;

  /** What the picture lacks of its source, as an image that is not fetched. */
  warnings: string[];
  createdAt: string;
};

export type CreateSite = {
  name?: string;

  /** Where it is read, for its sitemap. Default the address under which it was made. */
  url?: string;

  /** How long each build takes at least, so that a demo can show what happens during a build; at most 10s. */
  pace?: number | string;
};

export type Site = {
  id: string;
  name: string;
  url: string;

  /** How often its entities have changed. */
  version: number;
  entities: number;
  createdAt: string;

  /** Of the build that readers get. */
  routes: { path: string; kind: 'static' | 'list' | 'entity'; type?: string; id?: string }[];

  /** The newest first, twenty at most. */
  builds: {
    id: string;
    state: string;

    /** Whether readers get it. */
    current: boolean;

    /** It shows every change up to this one. */
    version: number | null;
    entities: number | null;
  }[];
};

/** Any object; what it has beside title and body is shown by name. */
export type PutEntity = { title?: string; body?: string };

export type Entity = { type: string; id: string; version: number };

export type AskForLease = {
  /** One of those that may be leased, with or without a tag. */
  image: string;

  /** How long it is held, counted from this call. */
  duration: number | string;

  /** As in `trip:42`: when that is cancelled, the lease ends with it. */
  owner?: string;
};

export type Lease = {
  id: string;
  state: 'provisioning' | 'running' | 'ending' | 'ended' | 'failed' | 'manual-cleanup';
  image: string;

  /** What takes it down with it. */
  owner?: string;
  createdAt: string;
  expiresAt: string;

  /** Null until it is made. */
  containerId: string | null;
  endedBy?: 'expired' | 'deleted' | 'cancelled' | 'owner' | 'failed' | 'container-gone';

  /** When its container was known to be gone. */
  endedAt?: string;

  /** Why it ended, or why its container could not be removed. */
  why?: string;
};

export type Leases = {
  /** The newest first. */
  leases: Lease[];

  /** Where the next page begins; null on the last one. */
  cursor: string | null;
};

export type RenewLease = {
  /** How long from now; never less than it is held already. */
  duration: number | string;
};

export type CleanUpLease = {
  /** Its engine is gone for good, and its container with it: free its place without looking. */
  release?: boolean;
} | null;

/** Problem details (RFC 9457). Some codes have members besides these. */
export type Problem = {
  type: 'about:blank';

  /** The name of the status. */
  title: string;
  status: number;

  /** What went wrong, for programs. */
  code: string;

  /** What went wrong and what to do, for people. */
  detail: string;

  /** The id of the call, as in the log and in `X-Request-Id`. */
  requestId: string;
};

/** Every call, by method and path. */
export interface Calls {
  /** Take events of other services. */
  'POST /v1/events': { input: { body: unknown }; answer: EventResults };
  /** Follow what changes. */
  'GET /v1/stream': {
    input: { query?: { topics?: string }; header?: { 'Last-Event-ID'?: string } };
    answer: Response;
  };
  /** Read an artifact of a job. */
  'GET /v1/jobs/{id}/artifacts/{name}': {
    input: { path: { id: string; name: string }; header?: { Range?: string; 'If-None-Match'?: string } };
    answer: Response;
  };
  /** List cancellations, newest first. */
  'GET /v1/cancellations': {
    input: { query?: { open?: boolean | ('true' | 'false'); cursor?: string; limit?: number } };
    answer: Cancellations;
  };
  /** Read the receipt of a cancellation as it stands now. */
  'GET /v1/cancellations/{cancelId}': { input: { path: { cancelId: string } }; answer: Receipt };
  /** Enqueue a tree of jobs. */
  'POST /v1/flows': { input: { body: Flow }; answer: FlowTicket };
  /** Read a job and those below it. */
  'GET /v1/flows/{jobId}': { input: { path: { jobId: string } }; answer: FlowTree };
  /** Enqueue a job. */
  'POST /v1/jobs': { input: { header?: { 'Idempotency-Key'?: string }; body: EnqueueJob }; answer: Ticket };
  /** List jobs, newest first. */
  'GET /v1/jobs': {
    input: {
      query?: {
        queue?: string;
        kind?: string;
        state?:
          | 'waiting'
          | 'delayed'
          | 'running'
          | 'retrying'
          | 'completed'
          | 'failed'
          | 'cancelled'
          | 'expired'
          | 'skipped'
          | 'removed';
        owner?: string;
        error?: string;
        cursor?: string;
        limit?: number;
      };
    };
    answer: Jobs;
  };
  /** Enqueue up to 1000 jobs. */
  'POST /v1/jobs/batch': { input: { body: EnqueueBatch }; answer: BatchResults };
  /** Read a job. */
  'GET /v1/jobs/{id}': { input: { path: { id: string } }; answer: Job };
  /** Cancel a job. */
  'DELETE /v1/jobs/{id}': { input: { path: { id: string } }; answer: Receipt };
  /** Read the payload of a job. */
  'GET /v1/jobs/{id}/payload': { input: { path: { id: string } }; answer: JobPayload };
  /** Read what the runs of a job logged. */
  'GET /v1/jobs/{id}/log': { input: { path: { id: string } }; answer: JobLog };
  /** Let a failed job wait again. */
  'POST /v1/jobs/{id}/retry': { input: { path: { id: string }; body?: Retry }; answer: Job };
  /** Let a delayed job wait now. */
  'POST /v1/jobs/{id}/promote': { input: { path: { id: string } }; answer: Job };
  /** Set the priority of a job that has not begun. */
  'POST /v1/jobs/{id}/priority': { input: { path: { id: string }; body: SetPriority }; answer: Job };
  /** List the kinds of jobs. */
  'GET /v1/kinds': { input: {}; answer: Kinds };
  /** Retry, cancel or remove the jobs that a filter names. */
  'POST /v1/operations': { input: { body: StartOperation }; answer: OperationAsked };
  /** List operations, newest first. */
  'GET /v1/operations': { input: { query?: { cursor?: string } }; answer: Operations };
  /** Read the progress of an operation. */
  'GET /v1/operations/{operationId}': { input: { path: { operationId: string } }; answer: Operation };
  /** Stop an operation. */
  'DELETE /v1/operations/{operationId}': { input: { path: { operationId: string } }; answer: Operation };
  /** List the owners that have unfinished jobs or a record. */
  'GET /v1/owners': {
    input: {
      query?: { type?: string; prefix?: string; state?: 'open' | 'closed'; cursor?: string; limit?: number };
    };
    answer: Owners;
  };
  /** Read an owner and its jobs. */
  'GET /v1/owners/{type}/{id}': {
    input: { path: { type: string; id: string }; query?: { cursor?: string } };
    answer: Owner;
  };
  /** Cancel an owner. */
  'POST /v1/owners/{type}/{id}/cancel': {
    input: { path: { type: string; id: string }; body?: Cancel };
    answer: Receipt;
  };
  /** Reopen an owner. */
  'POST /v1/owners/{type}/{id}/reopen': { input: { path: { type: string; id: string } }; answer: Reopened };
  /** Read which jobs of an owner were removed, when, why and by whom. */
  'GET /v1/owners/{type}/{id}/history': {
    input: { path: { type: string; id: string }; query?: { cursor?: string } };
    answer: History;
  };
  /** List the jobs that the retention sweep cannot remove. */
  'GET /v1/admin/quarantine': { input: { query?: { cursor?: string } }; answer: Quarantine };
  /** List queues with their counts. */
  'GET /v1/admin/queues': { input: {}; answer: Queues };
  /** Pause a queue. */
  'POST /v1/admin/queues/{queue}/pause': { input: { path: { queue: string } }; answer: Paused };
  /** Resume a queue. */
  'POST /v1/admin/queues/{queue}/resume': { input: { path: { queue: string } }; answer: Paused };
  /** List schedules. */
  'GET /v1/schedules': { input: { query?: { cursor?: string } }; answer: Schedules };
  /** Create or replace a schedule. */
  'PUT /v1/schedules/{id}': { input: { path: { id: string }; body: PutSchedule }; answer: Schedule };
  /** Read a schedule. */
  'GET /v1/schedules/{id}': { input: { path: { id: string } }; answer: Schedule };
  /** Delete a schedule. */
  'DELETE /v1/schedules/{id}': { input: { path: { id: string } }; answer: null };
  /** Read who holds a slot and who waits for it. */
  'GET /v1/admin/slots/{key}': { input: { path: { key: string } }; answer: Slot };
  /** Set how many jobs of a slot run at once, and how many start in a time. */
  'PUT /v1/admin/slots/{key}': { input: { path: { key: string }; body: SetSlotLimit }; answer: Slot };
  /** Request a sweep. */
  'POST /v1/admin/sweeps/{sweep}': {
    input: {
      path: { sweep: 'orphans' | 'retention' | 'expiry' | 'artifacts' | 'leases' | 'repair' };
      body?: SweepOrder;
    };
    answer: SweepAsked;
  };
  /** Read a sweep and what it removed. */
  'GET /v1/admin/sweeps/{sweep}': {
    input: { path: { sweep: string }; query?: { cursor?: string } };
    answer: SweepWithLines;
  };
  /** List sweeps, newest first, and the kinds that are tripped. */
  'GET /v1/admin/sweeps': { input: {}; answer: Sweeps };
  /** List the processes that take jobs. */
  'GET /v1/workers': { input: {}; answer: Workers };
  /** Ask drivers for a trip. */
  'POST /v1/trips': { input: { header?: { 'Idempotency-Key'?: string }; body: AskForTrip }; answer: Trip };
  /** Read a trip. */
  'GET /v1/trips/{id}': { input: { path: { id: string } }; answer: Trip };
  /** Accept a trip for a driver. */
  'POST /v1/trips/{id}/accept': { input: { path: { id: string }; body: TripDriver }; answer: Trip };
  /** Decline the offer of a trip for a driver. */
  'POST /v1/trips/{id}/decline': { input: { path: { id: string }; body: TripDriver }; answer: Trip };
  /** Complete an accepted trip. */
  'POST /v1/trips/{id}/complete': { input: { path: { id: string } }; answer: Trip };
  /** Cancel a trip. */
  'POST /v1/trips/{id}/cancel': { input: { path: { id: string }; body: CancelTrip }; answer: Trip };
  /** Say whether a driver takes offers. */
  'PUT /v1/drivers/{id}': { input: { path: { id: string }; body: DriverAvailable }; answer: Driver };
  /** Follow the offers to a driver. */
  'GET /v1/drivers/{id}/offers': { input: { path: { id: string } }; answer: Response };
  /** Request a diagram. */
  'POST /v1/diagrams': { input: { body: CreateDiagram }; answer: Diagram };
  /** Read the state of a diagram. */
  'GET /v1/diagrams/{id}': { input: { path: { id: string } }; answer: Diagram };
  /** Create a site. */
  'POST /v1/sites': { input: { body: CreateSite }; answer: Site };
  /** Read a site, its routes and its builds. */
  'GET /v1/sites/{id}': { input: { path: { id: string } }; answer: Site };
  /** Delete a site. */
  'DELETE /v1/sites/{id}': { input: { path: { id: string } }; answer: null };
  /** Create or replace an entity of a site. */
  'PUT /v1/sites/{id}/entities/{type}/{entityId}': {
    input: { path: { id: string; type: string; entityId: string }; body: PutEntity };
    answer: Entity;
  };
  /** Delete an entity of a site. */
  'DELETE /v1/sites/{id}/entities/{type}/{entityId}': {
    input: { path: { id: string; type: string; entityId: string } };
    answer: null;
  };
  /** Lease a container. */
  'POST /v1/leases': { input: { header?: { 'Idempotency-Key'?: string }; body: AskForLease }; answer: Lease };
  /** List leases, newest first. */
  'GET /v1/leases': {
    input: {
      query?: {
        state?: 'provisioning' | 'running' | 'ending' | 'ended' | 'failed' | 'manual-cleanup';
        cursor?: string;
      };
    };
    answer: Leases;
  };
  /** Read a lease. */
  'GET /v1/leases/{id}': { input: { path: { id: string } }; answer: Lease };
  /** End a lease. */
  'DELETE /v1/leases/{id}': { input: { path: { id: string } }; answer: Lease };
  /** Hold a lease longer. */
  'POST /v1/leases/{id}/renew': { input: { path: { id: string }; body: RenewLease }; answer: Lease };
  /** Try again to remove the container of a lease. */
  'POST /v1/leases/{id}/cleanup': { input: { path: { id: string }; body: CleanUpLease }; answer: Lease };
}

/** Calls whose answer is not JSON. */
export const RAW_CALLS = [
  'GET /v1/stream',
  'GET /v1/jobs/{id}/artifacts/{name}',
  'GET /v1/drivers/{id}/offers',
] as const;
