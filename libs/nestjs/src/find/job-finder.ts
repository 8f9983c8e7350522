import { InvalidJobError } from '#core';
import { Injectable } from '@nestjs/common';
import { matches, type JobFilter } from './job-filter.js';
import { byNewest, isBehind, placeOf } from './job-order.js';
import { JobSources } from './job-sources.js';
import type { SourceEntry } from './job-source.js';
import type { ListedJob } from './listed-job.js';
import { KnownNames } from './known-names.js';
import { Lane, mergeLanes } from './merge-lanes.js';
import { readCursor, writeCursor, type ListCursor } from './list-cursor.js';

/** As many jobs are all read, and put in order. */
const MOST_IN_ORDER = 1_000;
/** Of more jobs a page looks at about this number. */
const MOST_LOOKED_AT = 500;
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
 * Finds jobs, the newest first. The cost follows the page. If no more than `MOST_IN_ORDER` jobs can match, all of them are read, and the
 * order is that of their acceptance. Otherwise the queues' own lists are merged, each read from where the page before ended.
 */
@Injectable()
export class JobFinder {
  constructor(
    private readonly sources: JobSources,
    private readonly names: KnownNames,
  ) {}

  /** @throws InvalidJobError for a queue that there is not, and after the last page for such a kind, if it has no jobs */
  async find(filter: JobFilter, { cursor, limit = PAGE }: JobPage = {}): Promise<JobList> {
    this.names.checkQueue(filter);
    const from = readCursor(cursor, filter);
    const isOwned = from.isOwned ?? (await this.sources.isOwned(filter));
    const sources = this.sources.of(filter, isOwned);
    const counts = await Promise.all(sources.map((source) => source.count()));
    const lanes = (): Lane[] =>
      sources.flatMap((source, i) =>
        counts[i]! > 0 ? [new Lane(source, counts[i]!, from.places?.[source.name])] : [],
      );
    const total = counts.reduce((sum, count) => sum + count, 0);
    const whole = from.places || total > MOST_IN_ORDER ? undefined : await readWhole(lanes());
    const isWanted = (job: ListedJob): boolean => matches(job, filter) && isBehind(job, from.below);
    const { jobs, next } = whole
      ? pageOf(whole.filter(isWanted), limit, from)
      : await merge(lanes(), { ...from, isOwned }, isWanted, limit);
    const hasFound = from.hasFound || jobs.length > 0;
    if (next) return { jobs, cursor: writeCursor({ ...next, hasFound }, filter) };
    const wrong = hasFound ? undefined : this.names.whyNoKind(filter);
    if (wrong !== undefined) throw new InvalidJobError(wrong);
    return { jobs, cursor: null };
  }
}

/** All jobs of these lanes, by when they were accepted; undefined if they are too many by now. */
async function readWhole(lanes: readonly Lane[]): Promise<ListedJob[] | undefined> {
  const entries = await mergeLanes(lanes, () => true, Infinity, MOST_IN_ORDER);
  return lanes.every(({ isOver }) => isOver) ? jobsOf(entries) : undefined;
}

function pageOf(jobs: readonly ListedJob[], limit: number, from: ListCursor): Found {
  const page = jobs.slice(0, limit);
  const below = page.length > 0 ? placeOf(page.at(-1)!) : from.below;
  return { jobs: page, next: jobs.length > limit ? { below } : undefined };
}

async function merge(
  lanes: readonly Lane[],
  from: ListCursor,
  isWanted: (job: ListedJob) => boolean,
  limit: number,
): Promise<Found> {
  const taken = await mergeLanes(lanes, isWanted, limit, MOST_LOOKED_AT);
  const reached = lanes.flatMap(({ source, place }) => (place === undefined ? [] : [[source.name, place]]));
  const places = { ...from.places, ...(Object.fromEntries(reached) as Record<string, string>) };
  const isOver = lanes.every((lane) => lane.isOver);
  return { jobs: jobsOf(taken), next: isOver ? undefined : { ...from, places } };
}

/** A job that moves while the sources are read may stand in two of them. */
function jobsOf(entries: readonly SourceEntry[]): ListedJob[] {
  const byId = new Map(entries.flatMap(({ job }) => (job ? [[`${job.queue}:${job.id}`, job] as const] : [])));
  return [...byId.values()].toSorted(byNewest);
}
