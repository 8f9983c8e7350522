import { formatOwner, Owners, type HistoryEntry, type Owner } from '#core';
import { JobHistory } from '#nestjs';
import { Inject, Injectable } from '@nestjs/common';
import type { z } from 'zod';
import type { HistoryAnswer } from './owner-schemas.js';

const PAGE = 100;

export type HistoryView = z.output<typeof HistoryAnswer>;
type HistoryItem = HistoryView['entries'][number];

/** What was removed of an owner, why and by whom. */
@Injectable()
export class OwnerHistory {
  constructor(
    @Inject(Owners) private readonly owners: Owners,
    private readonly jobs: JobHistory,
  ) {}

  async read(owner: Owner, cursor = '0'): Promise<HistoryView> {
    const from = Number(cursor);
    const found = await this.owners.history(owner, from, PAGE + 1);
    const entries = await Promise.all(found.slice(0, PAGE).map((entry) => this.detail(entry)));
    return { owner: formatOwner(owner), entries, cursor: found.length > PAGE ? String(from + PAGE) : null };
  }

  private async detail({ id, queue, at, reason: why }: HistoryEntry): Promise<HistoryItem> {
    const removed = await this.jobs.findRemoved(queue, id);
    const item = { id, queue, at: new Date(at).toISOString() };
    if (!removed) return { ...item, state: 'unknown', why };
    const { kind, owners, was: state, reason, by, cancelId } = removed;
    const known = { ...item, kind, owners: [...owners], state, why: reason, ...(by && { by }) };
    return cancelId ? { ...known, ...(await this.causeOf(cancelId)), cancelId } : known;
  }

  private async causeOf(cancelId: string): Promise<Pick<HistoryItem, 'reason' | 'by'>> {
    const { reason, by } = (await this.owners.receipt(cancelId)) ?? {};
    return { ...(reason && { reason }), ...(by && { by }) };
  }
}
