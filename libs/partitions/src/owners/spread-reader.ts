import {
  parseOwner,
  type HistoryEntry,
  type Owner,
  type OwnerSummary,
  type OwnerView,
  type Receipt,
  type ReceiptList,
  type ReceiptListOptions,
  type UnderWay,
} from '#core';
import type { ListOptions, OwnerList, OwnersAt } from '#core/parts';
import { sum } from '../model/merges.js';
import { readPartCursor } from '../model/part-cursor.js';
import { mergeReceipts } from './merge-receipts.js';
import { seenEverywhere } from './seen.js';

const PAGE = 100;

/** Reads owners that have several partitions. */
export class SpreadReader {
  constructor(private readonly parts: readonly OwnersAt[]) {}

  /** What each partition knows of an owner, without its jobs. */
  records(owner: Owner): Promise<(OwnerView | undefined)[]> {
    return Promise.all(this.parts.map(({ reader }) => reader.get(owner, { limit: 0 })));
  }

  receipts(cancelId: string): Promise<(Receipt | undefined)[]> {
    return Promise.all(this.parts.map(({ reader }) => reader.receipt(cancelId)));
  }

  async receipt(cancelId: string): Promise<Receipt | undefined> {
    return mergeReceipts(await this.receipts(cancelId));
  }

  /** A cancel that several partitions have is listed by the first of them. */
  async listReceipts(options: ReceiptListOptions = {}): Promise<ReceiptList> {
    const { open, limit = PAGE } = options;
    const lists = await Promise.all(this.parts.map(({ reader }) => reader.receiptIds(options)));
    const entries = lists.flatMap((list, part) => list.map((each) => ({ ...each, part })));
    const page = entries.toSorted((a, b) => Number(b.at) - Number(a.at)).slice(0, limit);
    const found = await Promise.all(page.map(({ cancelId, part }) => this.receiptOfFirst(cancelId, part)));
    const receipts = found.filter((each) => each !== undefined && (open === undefined || each.done !== open));
    return {
      receipts: receipts as Receipt[],
      ...(page.length === limit && { cursor: page.at(-1)!.at }),
    };
  }

  /** Nothing if an earlier partition has a receipt of the cancel too. */
  private async receiptOfFirst(cancelId: string, part: number): Promise<Receipt | undefined> {
    const receipts = await this.receipts(cancelId);
    const first = receipts.findIndex((receipt) => receipt !== undefined);
    return first === part ? mergeReceipts(receipts) : undefined;
  }

  /** The pages of its jobs come partition by partition. A cursor is written <partition>.<cursor there>. */
  async get(owner: Owner, { cursor = '0.0', limit = PAGE } = {}): Promise<OwnerView | undefined> {
    const records = await this.records(owner);
    const found = records.filter((record) => record !== undefined);
    if (!found[0]) return undefined;
    const { jobs, next } = await this.page(owner, cursor, limit, records);
    return {
      owner: found[0].owner,
      state: stateOf(found),
      // The first partition decides what is late.
      ...(records[0]?.reopenedAt !== undefined && { reopenedAt: records[0].reopenedAt }),
      ...seenEverywhere(records),
      count: sum(found.map(({ count }) => count)),
      jobs,
      ...(next !== undefined && { cursor: next }),
    };
  }

  private async page(
    owner: Owner,
    from: string,
    limit: number,
    records: readonly unknown[],
  ): Promise<{ jobs: OwnerView['jobs']; next?: string }> {
    const first = readPartCursor(from);
    const at = records.findIndex((record, i) => i >= first.at && record !== undefined);
    if (at === -1) return { jobs: [] };
    const cursor = at === first.at ? first.cursor : undefined;
    const page = await this.parts[at]!.reader.get(owner, { limit, ...(cursor && { cursor }) });
    const jobs = page?.jobs ?? [];
    if (page?.cursor !== undefined) return { jobs, next: `${at}.${page.cursor}` };
    return records.slice(at + 1).some(Boolean) ? { jobs, next: `${at + 1}.0` } : { jobs };
  }

  async underWay(owner: Owner): Promise<UnderWay> {
    const found = await Promise.all(this.parts.map(({ reader }) => reader.underWay(owner)));
    return { running: sum(found.map((each) => each.running)), ending: sum(found.map((each) => each.ending)) };
  }

  async list({ state, limit = PAGE, ...rest }: ListOptions = {}): Promise<OwnerList> {
    const lists = await Promise.all(this.parts.map(({ reader }) => reader.list({ ...rest, limit })));
    const byName = new Map<string, OwnerSummary[]>();
    for (const each of lists.flatMap(({ owners }) => owners)) {
      const name = this.parts[0]!.store.nameOf(parseOwner(each.owner));
      byName.set(name, [...(byName.get(name) ?? []), each]);
    }
    // Behind the end of a list that goes on there may be owners that were not read.
    const ends = lists.flatMap(({ cursor }) => (cursor === undefined ? [] : [cursor])).toSorted(byBytes);
    const known = [...byName.keys()]
      .toSorted(byBytes)
      .filter((name) => !(ends[0]! && byBytes(name, ends[0]) > 0));
    const names = known.slice(0, limit);
    const owners = names
      .map((name) => addUp(byName.get(name)!))
      .filter((each) => !state || each.state === state);
    const cursor = known.length > limit ? names.at(-1) : ends[0];
    return { owners, ...(cursor !== undefined && { cursor }) };
  }

  /** The newest first. */
  async history(owner: Owner, from: number, limit: number): Promise<HistoryEntry[]> {
    const entries = await Promise.all(this.parts.map(({ reader }) => reader.history(owner, 0, from + limit)));
    return entries
      .flat()
      .toSorted((a, b) => b.at - a.at)
      .slice(from, from + limit);
  }
}

function addUp(parts: readonly OwnerSummary[]): OwnerSummary {
  return {
    owner: parts[0]!.owner,
    state: stateOf(parts),
    count: sum(parts.map(({ count }) => count)),
  };
}

/** The order that the store has. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** An owner that is closed in one partition is being closed, or reopened, in the others. */
function stateOf(parts: readonly OwnerSummary[]): OwnerSummary['state'] {
  return parts.some(({ state }) => state === 'closed') ? 'closed' : 'open';
}
