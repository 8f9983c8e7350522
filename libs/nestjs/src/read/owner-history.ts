import { formatOwner, Owners, type HistoryEntry, type Owner } from '#core';
import { Inject, Injectable } from '@nestjs/common';
import { Removals } from './removed-jobs.js';
import { isoTime } from './timeline.js';

const PAGE = 100;

/** A job that was removed before it had ended. Details are known for as long as the job is remembered. */
export interface HistoryItem {
  readonly id: string;
  readonly queue: string;
  readonly kind?: string;
  readonly owners?: readonly string[];
  readonly state: string;
  readonly at: string;
  readonly why: string;
  readonly reason?: string;
  readonly by?: string;
  readonly cancelId?: string;
}

export interface HistoryView {
  readonly owner: string;
  /** The newest first. */
  readonly entries: readonly HistoryItem[];
  /** Where the next page begins; null on the last one. */
  readonly cursor: string | null;
}

/** What was removed of an owner, why and by whom. */
@Injectable()
export class OwnerHistory {
  constructor(
    @Inject(Owners) private readonly owners: Owners,
    private readonly removals: Removals,
  ) {}

  async read(owner: Owner, cursor = '0'): Promise<HistoryView> {
    const from = Number(cursor);
    const found = await this.owners.history(owner, from, PAGE + 1);
    const entries = await Promise.all(found.slice(0, PAGE).map((entry) => this.detail(entry)));
    return { owner: formatOwner(owner), entries, cursor: found.length > PAGE ? String(from + PAGE) : null };
  }

  private async detail({ id, queue, at, reason }: HistoryEntry): Promise<HistoryItem> {
    const removed = await this.removals.find(queue, id);
    const {
      name,
      added: _added,
      begun: _begun,
      attempts: _attempts,
      state = 'unknown',
      ...rest
    } = removed ?? {};
    return { id, queue, ...(name && { kind: name }), why: reason, ...rest, state, at: isoTime(at) };
  }
}
