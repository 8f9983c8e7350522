import { Injectable } from '@nestjs/common';
import { Heartbeats } from '../run/heartbeats.js';
import type { WorkerBeat } from '../run/heartbeats.js';

/** A worker process as a list shows it. */
export type WorkerView = Omit<WorkerBeat, 'at' | 'startedAt' | 'runs'> & {
  readonly startedAt: string;
  /** Its last heartbeat. What it runs is as of then. */
  readonly heartbeatAt: string;
  /** The first hundred. */
  readonly runs: readonly (Omit<WorkerBeat['runs'][number], 'since'> & { readonly since: string })[];
};

/** Lists the processes that take jobs, the oldest first. One that was killed is listed until its heartbeat expires. */
@Injectable()
export class WorkerList {
  constructor(private readonly heartbeats: Heartbeats) {}

  async all(): Promise<WorkerView[]> {
    return (await this.heartbeats.all()).toSorted((a, b) => a.startedAt - b.startedAt).map(viewOf);
  }
}

function viewOf({ at, startedAt, runs, ...rest }: WorkerBeat): WorkerView {
  return {
    ...rest,
    startedAt: new Date(startedAt).toISOString(),
    heartbeatAt: new Date(at).toISOString(),
    runs: runs.map((run) => ({ ...run, since: new Date(run.since).toISOString() })),
  };
}
