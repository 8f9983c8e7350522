import type { SourcePage } from '../find/job-source.js';
import type { QueueSource } from '../find/queue-source.js';

const IDS_A_READ = 1_000;

/**
 * A page of the jobs that stand in one of BullMQ's lists, in the order of their ids. A list moves while it is read, and an operation takes jobs
 * out of it: a place in it says nothing. So each page reads all ids.
 */
export async function readListById(
  source: QueueSource,
  after: string | undefined,
  limit: number,
): Promise<SourcePage> {
  const ids = new Set<string>();
  for (let from = 0, read = IDS_A_READ; read === IDS_A_READ; from += IDS_A_READ) {
    const page = await source.ids(from, from + IDS_A_READ - 1);
    for (const id of page) if (after === undefined || id > after) ids.add(id);
    read = page.length;
  }
  const page = [...ids].toSorted().slice(0, limit);
  return { entries: await source.readIds(page), isLast: page.length === ids.size };
}
