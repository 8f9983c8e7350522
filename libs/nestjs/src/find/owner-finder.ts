import { Owners, type OwnerList, type OwnerSummary } from '#core';
import { escapeText, inGroups } from '#core/parts';
import { Inject, Injectable } from '@nestjs/common';
import { MooringStore } from '../store/mooring-store.js';
import { fromCursor, toCursor } from './page-cursor.js';

const PAGE = 50;
/** A page looks at this number of jobs, in equal shares of its owners; at a hundred of each at most. */
const LOOKED_AT_IN_A_PAGE = 1_500;
const MOST_LOOKED_AT = 100;
/** Other clients of the store wait for a step. */
const LOOKED_AT_IN_ONE_STEP = 120;

/** The name of an owner, as it stands in keys. */
const NAME = /^[a-z][a-z0-9_-]{0,63}:[^|"\\ \p{Cc}]{1,1600}$/iu;

export interface OwnerFilter {
  readonly type?: string | undefined;
  /** Of the id if there is a `type`, else of the name, as in `trip:4`. */
  readonly prefix?: string | undefined;
  readonly state?: 'open' | 'closed' | undefined;
  /** Only owners of these types. */
  readonly types?: readonly string[] | undefined;
}

interface Page {
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

/** An owner as a list shows it. */
export interface ListedOwner {
  readonly owner: string;
  readonly state: 'open' | 'closed';
  readonly counts: { readonly jobs: number; readonly running: number };
  /** How long its oldest job has been there; null without jobs. */
  readonly oldestJobMs: number | null;
  /** How many of its jobs were looked at: `running` and `oldestJobMs` are of these. */
  readonly lookedAt: number;
}

export interface OwnerPage {
  readonly owners: readonly ListedOwner[];
  readonly cursor: string | null;
}

type Looked = readonly [oldest: string, lookedAt: number, running: number, cancelled: number];

/** Lists the owners that have unfinished jobs or a record, by their names. The cost follows the page. */
@Injectable()
export class OwnerFinder {
  constructor(
    @Inject(Owners) private readonly owners: Owners,
    private readonly store: MooringStore,
  ) {}

  /** With `state` a page may have fewer owners than asked, and a cursor. */
  async find(filter: OwnerFilter, { cursor, limit = PAGE }: Page = {}): Promise<OwnerPage> {
    const after = cursor === undefined ? undefined : fromCursor(cursor, NAME);
    const list = await this.listTypes(filter, limit, after);
    const looked = await this.lookAt(list.owners);
    const now = Date.now();
    return {
      owners: list.owners.map((summary, i) => viewOf(summary, looked[i]!, now)),
      cursor: list.cursor === undefined ? null : toCursor(list.cursor),
    };
  }

  /** Of several types, one after the other in the order of their names, until the page is full. */
  private async listTypes(
    { type, prefix = '', state, types }: OwnerFilter,
    limit: number,
    after: string | undefined,
  ): Promise<OwnerList> {
    const beginnings = narrowed(beginningOf(type, prefix), types);
    const owners: OwnerSummary[] = [];
    for (const beginning of beginnings) {
      const isAt = after !== undefined && (beginnings.length === 1 || after.startsWith(beginning));
      if (after !== undefined && !isAt && after > beginning) continue;
      const list = await this.owners.list({
        prefix: beginning,
        limit: limit - owners.length,
        ...(state && { state }),
        ...(isAt && { cursor: after }),
      });
      owners.push(...list.owners);
      if (list.cursor !== undefined) return { owners, cursor: list.cursor };
    }
    return { owners };
  }

  private async lookAt(owners: readonly OwnerSummary[]): Promise<Looked[]> {
    const names = owners.map(({ owner }) => escapeText(owner));
    const most = Math.min(MOST_LOOKED_AT, Math.floor(LOOKED_AT_IN_A_PAGE / names.length));
    const looked: Looked[] = [];
    for (const group of inGroups(names, Math.floor(LOOKED_AT_IN_ONE_STEP / most))) {
      const args = [most, ...group];
      looked.push(...(await this.store.run<Looked[]>('lookAtOwners', `${this.store.root}~owner~`, args)));
    }
    return looked;
  }
}

/** A prefix may also be the whole beginning of the name. */
function beginningOf(type: string | undefined, prefix: string): string {
  return type === undefined || prefix.startsWith(`${type}:`) ? prefix : `${type}:${prefix}`;
}

/** How the names of these types begin that have this beginning, in the order of names. */
function narrowed(beginning: string, types: readonly string[] | undefined): string[] {
  if (types === undefined) return [beginning];
  const all = [...new Set(types)]
    .map((type) => `${type}:`)
    .filter((each) => each.startsWith(beginning) || beginning.startsWith(each));
  return all.map((each) => (beginning.startsWith(each) ? beginning : each)).toSorted();
}

function viewOf({ owner, state, count }: OwnerSummary, looked: Looked, now: number): ListedOwner {
  const [oldest, lookedAt, running, cancelled] = looked;
  const oldestJobMs = oldest === '' ? null : Math.max(0, now - Number(oldest));
  return { owner, state, counts: { jobs: Math.max(0, count - cancelled), running }, oldestJobMs, lookedAt };
}
