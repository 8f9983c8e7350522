import type { LeaseState } from '#workloads/containers';
import { expect } from 'vitest';
import type { Answer, Fleet } from './fleet.js';
import { until } from './until.js';

export interface LeaseView {
  readonly id: string;
  readonly state: LeaseState;
  readonly image: string;
  readonly owner?: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly containerId: string | null;
  readonly endedBy?: string;
  readonly endedAt?: string;
  readonly why?: string;
}

/** A log line of the clean-up of a lease. */
export interface CleanupLine {
  readonly event: string;
  readonly leaseId: string;
  readonly containerId: string;
  readonly action: string;
  readonly status: string;
  readonly attempt: number;
  readonly durationMs: number;
  readonly time: number;
}

/** A caller of the lease routes of a fleet. */
export class LeaseCaller {
  constructor(
    private readonly fleet: Fleet,
    private readonly image = 'alpine',
  ) {}

  /** Returns the lease's id. */
  async ask(duration: string | number, more: object = {}): Promise<string> {
    const { status, body } = await this.post('/v1/leases', { image: this.image, duration, ...more });
    expect({ status, body }).toMatchObject({ status: 202 });
    return String(body['id']);
  }

  async askRunning(duration: string | number, more: object = {}): Promise<LeaseView> {
    return this.untilState(await this.ask(duration, more), 'running');
  }

  async read(id: string): Promise<LeaseView> {
    const { status, body } = await this.fleet.request('GET', `/v1/leases/${id}`);
    expect({ status, body }).toMatchObject({ status: 200 });
    return body as unknown as LeaseView;
  }

  untilState(id: string, state: LeaseState, withinMs?: number): Promise<LeaseView> {
    return until(
      async () => {
        const lease = await this.read(id);
        return lease.state === state && lease;
      },
      `lease ${id} is ${state}`,
      withinMs,
    );
  }

  async ids(state: LeaseState): Promise<string[]> {
    const { body } = await this.fleet.request('GET', `/v1/leases?state=${state}`);
    return (body['leases'] as LeaseView[]).map(({ id }) => id);
  }

  renew(id: string, duration: string | number): Promise<Answer> {
    return this.post(`/v1/leases/${id}/renew`, { duration });
  }

  delete(id: string): Promise<Answer> {
    return this.fleet.request('DELETE', `/v1/leases/${id}`);
  }

  post(path: string, body?: object, headers?: Record<string, string>): Promise<Answer> {
    return this.fleet.request('POST', path, body, headers);
  }

  /** The clean-up steps in order, of all processes or of the given ones. */
  cleanup(id: string, by = this.fleet.processes): CleanupLine[] {
    return by
      .flatMap((process) => process.facts() as unknown as CleanupLine[])
      .filter(({ event, leaseId }) => event === 'lease.cleanup' && leaseId === id)
      .toSorted((a, b) => a.time - b.time);
  }

  /** The container's name in the engine. */
  nameOf(id: string): string {
    return `lease-${this.fleet.prefix}-${id}`;
  }
}
