import { InvalidJobError } from '#core';
import { durationMs, inGroups } from '#core/parts';
import { Inject, Injectable } from '@nestjs/common';
import { MOORING_OPTIONS, type MooringOptions } from '../options.js';
import { MooringStore } from '../store/mooring-store.js';

/** What one caller did, or was refused. */
export interface AuditRecord {
  /** The name of the caller. */
  readonly who: string;
  /** What was asked for, as in `owner.cancel`. */
  readonly what: string;
  /** On what, as in `trip:42`; '' if the call names nothing. */
  readonly on: string;
  readonly outcome: 'done' | 'refused' | 'failed';
  /** The HTTP status of the answer. */
  readonly status: number;
  readonly requestId: string;
  readonly address?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

export interface AuditEntry extends AuditRecord {
  readonly id: string;
  readonly at: string;
}

export interface AuditFilter {
  readonly who?: string | undefined;
  readonly what?: string | undefined;
  /** Entries of this time and later, ISO 8601. */
  readonly since?: string | undefined;
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** Where the next page begins; null after the last. A page may have fewer entries than asked, or none, and a cursor. */
  readonly cursor: string | null;
}

const PAGE = 100;
const READ_IN_ONE_STEP = 200;
/** A page looks at this number of entries. */
const MOST_LOOKED_AT = 2_000;
const MOST_TEXT = 600;
const MOST_DETAILS = 2_000;
const TRIM_EVERY = 100;
const ENTRY_ID = /^\d{1,15}-\d{1,15}$/;

type StoredEntry = readonly [id: string, fields: readonly string[]];

/** The stream of what callers changed: `<prefix>:audit`, bounded by age and by number. */
@Injectable()
export class AuditLog {
  private readonly ageMs: number;
  private readonly count: number;
  private writes = 0;

  constructor(
    private readonly store: MooringStore,
    @Inject(MOORING_OPTIONS) { audit = {} }: MooringOptions,
  ) {
    this.ageMs = durationMs('audit.age', audit.age ?? '90d');
    this.count = audit.count ?? 100_000;
  }

  /** The entry is stored when this resolves. */
  async write({ details, ...entry }: AuditRecord): Promise<void> {
    const texts = Object.entries(entry).flatMap(([name, value]) =>
      value === undefined ? [] : [name, String(value).slice(0, MOST_TEXT)],
    );
    const more = details === undefined ? '' : JSON.stringify(details);
    // A cut JSON text could not be read.
    const kept = more !== '' && more.length <= MOST_DETAILS ? ['details', more] : [];
    const args = [this.key, 'MAXLEN', '~', this.count, '*', ...texts, ...kept];
    const id = await this.store.call<string>('xadd', ...args);
    if (this.writes++ % TRIM_EVERY > 0) return;
    // By the store's clock, which is in the id: a process with a wrong clock must not empty the log.
    const oldest = Math.max(0, Number(id.split('-')[0]) - this.ageMs);
    await this.store.call('xtrim', this.key, 'MINID', '~', oldest);
  }

  /** The newest first. The cost follows the page. */
  async read(
    filter: AuditFilter = {},
    {
      cursor,
      limit = PAGE,
    }: { readonly cursor?: string | undefined; readonly limit?: number | undefined } = {},
  ): Promise<AuditPage> {
    if (cursor !== undefined && !ENTRY_ID.test(cursor))
      throw new InvalidJobError('cursor: expected the cursor of the page before, as it was given');
    const since = filter.since === undefined ? '-' : String(Date.parse(filter.since));
    const entries: AuditEntry[] = [];
    let last = cursor;
    for (let looked = 0; looked < MOST_LOOKED_AT; looked += READ_IN_ONE_STEP) {
      const from = last === undefined ? '+' : `(${last}`;
      const args = [this.key, from, since, 'COUNT', READ_IN_ONE_STEP];
      const page = await this.store.call<StoredEntry[]>('xrevrange', ...args);
      for (const stored of page) {
        const entry = readEntry(stored);
        last = entry.id;
        if (!matches(entry, filter)) continue;
        entries.push(entry);
        if (entries.length === limit) return { entries, cursor: last };
      }
      if (page.length < READ_IN_ONE_STEP) return { entries, cursor: null };
    }
    return { entries, cursor: last ?? null };
  }

  private get key(): string {
    return `${this.store.root}:audit`;
  }
}

function matches({ who, what }: AuditEntry, filter: AuditFilter): boolean {
  return (
    (filter.who === undefined || who === filter.who) && (filter.what === undefined || what === filter.what)
  );
}

function readEntry([id, fields]: StoredEntry): AuditEntry {
  const {
    who = '',
    what = '',
    on = '',
    outcome,
    status,
    requestId = '',
    address,
    details,
  } = Object.fromEntries(inGroups(fields, 2)) as Record<string, string | undefined>;
  return {
    id,
    at: new Date(Number(id.split('-')[0])).toISOString(),
    who,
    what,
    on,
    outcome: outcome as AuditEntry['outcome'],
    status: Number(status),
    requestId,
    ...(address !== undefined && { address }),
    ...(details !== undefined && { details: JSON.parse(details) as Record<string, unknown> }),
  };
}
