import { Injectable } from '@nestjs/common';
import { matches, type JobFilter } from './job-filter.js';
import { byNewest, isBehind, placeOf } from './job-order.js';
import { JobSources } from './job-sources.js';
import type { JobSource, SourceEntry } from './job-source.js';
import type { ListedJob } from './listed-job.js';
import { mergeLanes, type Lane } from './merge-lanes.js';
import { readCursor, writeCursor, type ListCursor } from './list-cursor.js';

/** A page looks at about this number of jobs. */
export const MOST_LOOKED_AT = 1_000;
const LEAST_OF_A_SOURCE = 10;
const PAGE = 100;

export interface JobList {
  readonly jobs: readonly ListedJob[];
  /** Where the next page begins; null after the last. A page may have fewer jobs than asked, or none, and a cursor. */
  readonly cursor: string | null;
}

/** Which page of a list. */
export interface JobPage {
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

interface Found {
  readonly jobs: readonly ListedJob[];
  readonly next: ListCursor | undefined;
}

/**
 * Finds jobs, the newest first. The cost follows the page. If no more than `MOST_LOOKED_AT` jobs can match, all of them are read, and the
 * order is that of their acceptance. Otherwise the queues' own lists are merged, each read from where the page before ended.
 */
@Injectable()
export class JobFinder {
  constructor(private readonly sources: JobSources) {}

  async find(filter: JobFilter, { cursor, limit = PAGE }: JobPage = {}): Promise<JobList> {
    const from = readCursor(cursor, filter);
    const isOwned = from.isOwned ?? (await this.sources.isOwned(filter));
    const all = this.sources.of(filter, isOwned);
    const counts = await Promise.all(all.map((source) => source.count()));
    const sources = all.filter((_, i) => counts[i]! > 0);
    const total = counts.reduce((sum, count) => sum + count, 0);
    const whole = from.places || total > MOST_LOOKED_AT ? undefined : await readWhole(sources);
    const { jobs, next } = whole
      ? pageOf(
          whole.filter((job) => matches(job, filter) && isBehind(job, from.below)),
          limit,
          from,
        )
      : await merge(sources, { ...from, isOwned }, filter, limit);
    return { jobs, cursor: next ? writeCursor(next, filter) : null };
  }
}

/** All jobs of these sources; undefined if they are too many by now. */
async function readWhole(sources: readonly JobSource[]): Promise<ListedJob[] | undefined> {
  const pages = await Promise.all(sources.map((source) => source.read(undefined, MOST_LOOKED_AT)));
  return pages.every(({ isLast }) => isLast) ? jobsOf(pages.flatMap(({ entries }) => entries)) : undefined;
}

function pageOf(jobs: readonly ListedJob[], limit: number, from: ListCursor): Found {
  const page = jobs.slice(0, limit);
  const below = page.length > 0 ? placeOf(page.at(-1)!) : from.below;
  return { jobs: page, next: jobs.length > limit ? { below } : undefined };
}

async function merge(
  sources: readonly JobSource[],
  from: ListCursor,
  filter: JobFilter,
  limit: number,
): Promise<Found> {
  const share = Math.max(LEAST_OF_A_SOURCE, Math.floor(MOST_LOOKED_AT / Math.max(1, sources.length)));
  const lanes = await Promise.all(
    sources.map((source) => openLane(source, from.places?.[source.name], share)),
  );
  const wanted = (job: ListedJob): boolean => matches(job, filter) && isBehind(job, from.below);
  const { taken, isOver } = mergeLanes(lanes, wanted, limit);
  const places = { ...from.places, ...Object.fromEntries(lanes.flatMap(placeIn)) };
  return { jobs: jobsOf(taken), next: isOver ? undefined : { ...from, places } };
}

async function openLane(source: JobSource, after: string | undefined, most: number): Promise<Lane> {
  const { entries, isLast } = await source.read(after, most);
  return { name: source.name, entries, isLast, taken: 0 };
}

function placeIn({ name, entries, taken }: Lane): [string, string][] {
  return taken === 0 ? [] : [[name, entries[taken - 1]!.place]];
}

/** A job that moves while the sources are read may stand in two of them. */
function jobsOf(entries: readonly SourceEntry[]): ListedJob[] {
  const byId = new Map(entries.flatMap(({ job }) => (job ? [[`${job.queue}:${job.id}`, job] as const] : [])));
  return [...byId.values()].toSorted(byNewest);
}
