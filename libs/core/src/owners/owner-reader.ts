import { escapeText, unescapeText } from '../scripts/escape.js';
import { readJobRef } from '../scripts/job-ref.js';
import type { Owner } from '../model/owner.js';
import { readHistory, type HistoryEntry } from './history.js';
import type { OwnerStore } from './owner-store.js';
import { readReceipt, type Receipt } from './receipt.js';

const PAGE = 100;
const COUNTED_A_STEP = 1_000;
/** As in `record.lua`. */
const LISTS = 1000;
const LIST_DIGITS = 3;
const LISTS_A_STEP = 125;
const FIRST_OF_A_LIST = 2;

export interface OwnerJob {
  readonly queue: string;
  readonly id: string;
  readonly name: string;
  readonly state: string;
  /** When it was added, ms. */
  readonly added: number;
  /** Also if its worker has died, and it waits to run again. */
  readonly hasBegun: boolean;
}

export interface OwnerView {
  readonly owner: string;
  readonly state: 'open' | 'closed';
  readonly epoch: string;
  /** When a job was last enqueued for it, µs. */
  readonly wanted: string;
  readonly count: number;
  /** When it was last reopened, ms. */
  readonly reopenedAt?: number;
  /** A page of its jobs; `cursor` goes on with the next, and is absent after the last. */
  readonly jobs: readonly OwnerJob[];
  readonly cursor?: string;
}

/** Of all jobs of an owner. */
export interface UnderWay {
  /** Also cancelled ones, until they have stopped. */
  readonly running: number;
  /** Cancelled jobs that are still there. */
  readonly ending: number;
}

export interface OwnerSummary {
  readonly owner: string;
  readonly state: 'open' | 'closed';
  readonly count: number;
}

export interface OwnerList {
  readonly owners: readonly OwnerSummary[];
  readonly cursor?: string;
}

export interface ListOptions {
  readonly type?: string;
  /** Only owners whose name begins so: `trip:4`. */
  readonly prefix?: string;
  readonly state?: 'open' | 'closed';
  readonly cursor?: string;
  readonly limit?: number;
}

export interface ReceiptListOptions {
  /** Only cancels whose clean-up is not over, or only the others. */
  readonly open?: boolean | undefined;
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

export interface ReceiptList {
  readonly receipts: readonly Receipt[];
  readonly cursor?: string;
}

/** A cancel in the list of receipts, by its time, µs. */
export interface ListedReceipt {
  readonly cancelId: string;
  readonly at: string;
}

/** A list, and the name behind which it is read. */
type ListPlace = readonly [list: string, after: string];

type UnderWayPage = [next: string, ...jobs: [ref: string, state: string, isCancelled: string][]];

export class OwnerReader {
  constructor(private readonly store: OwnerStore) {}

  async get(owner: Owner, { cursor = '0', limit = PAGE } = {}): Promise<OwnerView | undefined> {
    const name = this.store.nameOf(owner);
    const answer = await this.store.run<string[]>('readOwner', this.store.recordOf(name), [
      name,
      cursor,
      limit,
    ]);
    const [epoch, stateText = '', wanted, count, next, ...jobs] = answer;
    if (epoch === undefined) return undefined;
    const [state, reopenedAt] = stateText.split(' ');
    return {
      owner: unescapeText(name),
      state: state as OwnerView['state'],
      epoch,
      wanted: wanted!,
      count: Number(count),
      ...(reopenedAt !== undefined && { reopenedAt: Number(reopenedAt) }),
      jobs: inGroups(jobs, 5).map(([ref, jobState, jobName, added, begun]) => ({
        ...readJobRef(ref!),
        name: jobName!,
        state: jobState!,
        added: Number(added),
        hasBegun: Number(begun) > 0,
      })),
      ...(next !== '0' && { cursor: next! }),
    };
  }

  /** Looks at each job of the owner, a thousand a step. */
  async underWay(owner: Owner): Promise<UnderWay> {
    const name = this.store.nameOf(owner);
    const [running, ending] = [new Set<string>(), new Set<string>()];
    let cursor = '0';
    do {
      const args: (string | number)[] = [name, cursor, COUNTED_A_STEP, 'under-way'];
      const answer: UnderWayPage = await this.store.run('listOwned', this.store.recordOf(name), args);
      const [next, ...jobs] = answer;
      for (const [ref, state, isCancelled] of jobs) {
        // A job may be on two pages while the record changes.
        if (state) running.add(ref);
        if (isCancelled) ending.add(ref);
      }
      cursor = next;
    } while (cursor !== '0');
    return { running: running.size, ending: ending.size };
  }

  async list({ type, prefix, state, cursor = '', limit = PAGE }: ListOptions = {}): Promise<OwnerList> {
    const begins = escapeText(prefix ?? (type === undefined ? '' : `${type}:`));
    const names = await this.names(cursor, begins, limit);
    const found = await this.store.run<string[]>('summarizeOwners', this.store.recordOf(''), names);
    const owners = inGroups(found, 4)
      .map(([name, ownerState, count]) => ({
        owner: unescapeText(name!),
        state: ownerState as OwnerView['state'],
        count: Number(count),
      }))
      .filter((each) => state === undefined || each.state === state);
    return { owners, ...(names.length === limit && { cursor: names.at(-1)! }) };
  }

  async history(owner: Owner, from: number, limit: number): Promise<HistoryEntry[]> {
    const key = `${this.store.root}~history~${this.store.nameOf(owner)}`;
    return (await this.store.linesOf(key, from, from + limit - 1)).map(readHistory);
  }

  async receipt(cancelId: string): Promise<Receipt | undefined> {
    const fields = await this.store.fieldsOf(this.store.receiptOf(cancelId));
    return fields['owner'] === undefined ? undefined : readReceipt(cancelId, fields);
  }

  /** The newest first. Those whose receipts have gone are left out. A page may have fewer than asked, and a cursor. */
  async listReceipts(options: ReceiptListOptions = {}): Promise<ReceiptList> {
    const { open, limit = PAGE } = options;
    const listed = await this.receiptIds(options);
    const found = await Promise.all(listed.map(({ cancelId }) => this.receipt(cancelId)));
    const receipts = found.filter((each) => each !== undefined && (open === undefined || each.done !== open));
    return {
      receipts: receipts as Receipt[],
      ...(listed.length === limit && { cursor: listed.at(-1)!.at }),
    };
  }

  /** The cancels of before a time; all of them if `open` is not given or false. */
  async receiptIds({ open, cursor, limit = PAGE }: ReceiptListOptions): Promise<ListedReceipt[]> {
    const key = `${this.store.root}${open ? '~cancels' : '~receipts'}`;
    const found = await this.store.rangeBefore(key, cursor, limit);
    return inGroups(found, 2).map(([cancelId, at]) => ({ cancelId: cancelId!, at: at! }));
  }

  /** The first names of all lists. Each list is read as far as it may have one of them. */
  private async names(after: string, begins: string, limit: number): Promise<string[]> {
    // A record that came after its owner's old one has expired may stand in another list.
    const names = new Set<string>();
    let first: string[] = [];
    let lists = Array.from({ length: LISTS }, (_, i): ListPlace => [
      String(i).padStart(LIST_DIGITS, '0'),
      after,
    ]);
    for (let count = FIRST_OF_A_LIST; lists.length > 0; count *= 4) {
      const read: ListPlace[] = [];
      for (const group of inGroups(lists, LISTS_A_STEP)) {
        const args = [begins, count, ...group.flat()];
        const found = await this.store.run<string[][]>('listOwners', this.store.recordOf(''), args);
        found.forEach((page, i) => {
          for (const name of page) names.add(name);
          if (page.length === count) read.push([group[i]![0], page.at(-1)!]);
        });
      }
      first = byBytes([...names]).slice(0, limit);
      const last = first.length === limit ? first.at(-1)! : undefined;
      lists = read.filter(([, name]) => last === undefined || byBytes([name, last])[0] === name);
    }
    return first;
  }
}

/** In the order that the store has. */
function byBytes(names: readonly string[]): string[] {
  const known = names.map((name) => ({ name, bytes: Buffer.from(name) }));
  return known.toSorted((a, b) => Buffer.compare(a.bytes, b.bytes)).map(({ name }) => name);
}

export function inGroups<T>(values: readonly T[], size: number): T[][] {
  const groups = [];
  for (let i = 0; i < values.length; i += size) groups.push(values.slice(i, i + size));
  return groups;
}
