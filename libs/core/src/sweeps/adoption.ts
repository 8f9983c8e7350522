import { Job } from 'bullmq';
import type { MooredBackend } from '../backend/moored-backend.js';
import { ownerNames } from '../backend/owned-options.js';
import type { Owner } from '../model/owner.js';
import type { OwnersOf } from '../model/owners-of.js';

/** In the order in which jobs go through them: what moves on during a sweep is seen in its next place. */
const PLACES = ['waiting-children', 'delayed', 'prioritized', 'wait', 'paused'] as const;
const JOBS_ON_A_PAGE = 100;

export interface AdoptOptions {
  /** Instead of that of the queue. */
  readonly ownersOf?: OwnersOf;
  /** Where an earlier one stopped. */
  readonly cursor?: string;
  /** About how many jobs it looks at. */
  readonly limit?: number;
}

/** What an adoption did with the jobs that wait. */
export interface Adoption {
  readonly seen: number;
  /** Jobs that a cancel of their owner now ends. */
  readonly adopted: number;
  /** Jobs of closed owners, which left their queue. */
  readonly removed: number;
  /** Jobs for which `ownersOf` threw or named no valid owners: they run as in plain BullMQ. `error` is the first reason. */
  readonly failed: number;
  readonly error?: unknown;
  /** Where the next one goes on; absent when all places are through. */
  readonly cursor?: string;
}

/**
 * Gives the jobs that wait and are in no index their owners: those that they name, or those that `ownersOf` does. It reads a page at a
 * time and may stop, be killed or run twice at any moment: each job gets its owners in one step, unless it has some or a worker has it.
 */
export class AdoptionSweep {
  constructor(
    private readonly backend: MooredBackend,
    private readonly ownersOf: OwnersOf,
  ) {}

  async sweepOnce({ cursor, limit = Infinity }: Omit<AdoptOptions, 'ownersOf'> = {}): Promise<Adoption> {
    const total = { seen: 0, adopted: 0, removed: 0, failed: 0 };
    let error: unknown;
    let at: Position | undefined = readCursor(cursor);
    while (at && total.seen < limit) {
      const page = await this.sweepPage(at, Math.min(JOBS_ON_A_PAGE, limit - total.seen));
      for (const count of ['seen', 'adopted', 'removed', 'failed'] as const) total[count] += page[count];
      error ??= page.error;
      at = page.next;
    }
    return {
      ...total,
      ...(error !== undefined && { error }),
      ...(at && { cursor: `${at.place}:${at.from}` }),
    };
  }

  private async sweepPage(at: Position, most: number): Promise<SweptPage> {
    const prefix = this.backend.toKey('');
    const [seen, ...fields] = (await this.backend.run('readUnindexed', [
      this.backend.toKey(at.place),
      this.backend.root,
      prefix,
      at.from,
      most,
    ])) as [number, ...string[]];
    const { requests, failed, error } = this.nameOwners(fields);
    const answers =
      requests.length === 0
        ? []
        : ((await this.backend.run('adoptWaiting', [
            this.backend.toKey('marker'),
            this.backend.root,
            prefix,
            ...requests,
          ])) as string[]);
    const removed = countOf(answers, 'removed');
    const next = seen < most ? placeAfter(at.place) : { place: at.place, from: at.from + seen - removed };
    return { seen, adopted: countOf(answers, 'adopted'), removed, failed, error, next };
  }

  /** @param fields id, name, data and options of each job; only the id of one that has a mark */
  private nameOwners(fields: readonly string[]): { requests: string[]; failed: number; error: unknown } {
    const requests: string[] = [];
    let failed = 0;
    let error: unknown;
    for (let i = 0; i < fields.length; i += 4) {
      const [id, name, data, opts] = fields.slice(i, i + 4) as [string, string, string, string];
      if (opts === '') {
        requests.push(id, '');
        continue;
      }
      try {
        const owners = this.ownersNamed(id, name, data, opts);
        if (owners.length > 0) requests.push(id, ownerNames(owners).join('|'));
      } catch (reason) {
        failed += 1;
        error ??= reason;
      }
    }
    return { requests, failed, error };
  }

  private ownersNamed(id: string, name: string, data: string, options: string): readonly (Owner | string)[] {
    const opts = Job.optsFromJSON(options);
    return opts.owners ?? this.ownersOf({ id, name, data: JSON.parse(data), opts });
  }
}

interface Position {
  readonly place: (typeof PLACES)[number];
  readonly from: number;
}

interface SweptPage extends Omit<Adoption, 'cursor'> {
  readonly next: Position | undefined;
}

function readCursor(text = ''): Position {
  const [place, from = '0'] = text.split(':') as [Position['place'], string?];
  return PLACES.includes(place) ? { place, from: Number(from) } : { place: PLACES[0], from: 0 };
}

function placeAfter(place: Position['place']): Position | undefined {
  const next = PLACES[PLACES.indexOf(place) + 1];
  return next && { place: next, from: 0 };
}

function countOf(answers: readonly string[], word: string): number {
  return answers.filter((answer) => answer === word).length;
}
