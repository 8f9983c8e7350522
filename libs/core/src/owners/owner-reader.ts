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
const LISTS_A_STEP = 125;

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
      const args: (string | number)[] = [name, cursor, COUNTED_A_STEP];
      const answer: string[] = await this.store.run('countUnderWay', this.store.recordOf(name), args);
      for (const [ref, runs, isCancelled] of inGroups(answer.slice(1), 3)) {
        // A job may be on two pages while the record changes.
        if (runs) running.add(ref!);
        if (isCancelled) ending.add(ref!);
      }
      cursor = answer[0]!;
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

  /** The first names of all lists, some lists a step. */
  private async names(after: string, begins: string, limit: number): Promise<string[]> {
    const steps = [];
    for (let first = 0; first < LISTS; first += LISTS_A_STEP) {
      const args = [after, begins, limit, first, first + LISTS_A_STEP - 1];
      steps.push(this.store.run<string[]>('listOwners', this.store.recordOf(''), args));
    }
    // A record that came after its owner's old one has expired may stand in another list.
    const names = new Set((await Promise.all(steps)).flat());
    return [...names].toSorted(byBytes).slice(0, limit);
  }
}

/** The order that the store has. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

export function inGroups(values: readonly string[], size: number): string[][] {
  const groups = [];
  for (let i = 0; i < values.length; i += size) groups.push(values.slice(i, i + size));
  return groups;
}
