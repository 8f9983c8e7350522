import {
  formatOwner,
  OwnerClosedError,
  Owners,
  parseOwner,
  type CancelOptions,
  type Owner,
  type Receipt,
} from '#core';
import { emptyReceipt } from '#core/parts';
import {
  Enqueuer,
  type EnqueueItem,
  type EnqueueOptions,
  type EnqueueTicket,
  type Kind,
  type PayloadIn,
} from '#nestjs';
import type { Provider } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { readPayload } from './read-payload.js';

/** A job that the code under test has enqueued. */
export interface RecordedJob {
  readonly id: string;
  readonly kind: string;
  readonly payload: unknown;
  readonly owners: readonly string[];
  readonly options: EnqueueOptions;
}

export interface RecordedCancel {
  readonly owner: string;
  readonly options: CancelOptions;
}

/**
 * Stands for `Enqueuer` and `Owners` in a test of code that enqueues and cancels, without a store. Payloads are checked by the schema of
 * their kind; the owner of a cancel is closed, and its jobs are refused, until it is reopened.
 */
export class MooringRecorder {
  readonly jobs: RecordedJob[] = [];
  readonly cancels: RecordedCancel[] = [];
  private readonly closed = new Set<string>();

  /** Providers in the place of those of `MooringModule`. */
  providers(): Provider[] {
    return [
      { provide: Enqueuer, useValue: this.enqueuer },
      { provide: Owners, useValue: this.owners },
    ];
  }

  readonly enqueuer: Pick<Enqueuer, 'enqueue' | 'enqueueAll' | 'checkRoom'> = {
    enqueue: (kind, payload, options) => this.enqueue(kind, payload, options),
    enqueueAll: (items: readonly EnqueueItem[]) =>
      Promise.allSettled(
        items.map(({ kind, payload, options }) => this.enqueue(kind, payload as never, options)),
      ),
    checkRoom: async () => undefined,
  };

  readonly owners: Pick<Owners, 'cancel' | 'reopen'> = {
    cancel: (owner, options) => this.cancel(owner, options),
    reopen: async (owner) => {
      this.closed.delete(nameOf(owner));
      return { state: 'open', epoch: '' };
    },
  };

  /** The jobs of one kind, in the order in which they were enqueued. */
  jobsOf(kind: Kind): RecordedJob[] {
    return this.jobs.filter((job) => job.kind === kind.name);
  }

  private async enqueue<K extends Kind>(
    kind: K,
    given: PayloadIn<K>,
    options: EnqueueOptions = {},
  ): Promise<EnqueueTicket> {
    const payload = await readPayload(kind, given);
    const owners = (options.owners ?? kind.owners?.(payload as never) ?? []).map(nameOf);
    const closed = owners.find((owner) => this.closed.has(owner));
    if (closed !== undefined) throw new OwnerClosedError(closed);
    const id = options.jobId ?? `${kind.queue}-${randomUUID()}`;
    this.jobs.push({ id, kind: kind.name, payload, owners, options });
    return { outcome: 'created', id, kind: kind.name, queue: kind.queue, owners };
  }

  private async cancel(owner: Owner | string, options: CancelOptions = {}): Promise<Receipt> {
    const name = nameOf(owner);
    const { cancelId = randomUUID(), close = true, reason = '', by = '' } = options;
    this.cancels.push({ owner: name, options });
    if (close) this.closed.add(name);
    const removed = this.jobs.filter(({ owners }) => owners.includes(name)).length;
    return emptyReceipt(cancelId, name, { removed, reason, by, closed: close, at: Date.now() });
  }
}

function nameOf(owner: Owner | string): string {
  return formatOwner(typeof owner === 'string' ? parseOwner(owner) : owner);
}
