import { Injectable } from '@nestjs/common';
import type { JobType, Queue } from 'bullmq';
import { Store } from '../store.js';
import type { Round } from './sweep.js';
import { Walks } from './walks.js';

/** Where jobs wait, in BullMQ's words. */
export const WAITING: readonly JobType[] = ['wait', 'prioritized', 'delayed', 'waiting-children'];
/** Reading on in a list of which much was taken meanwhile, some are passed over: so far it goes back. */
const OVERLAP = 50;
const PAGE = 500;

/** Where jobs are kept that ended. */
export const ENDED: readonly JobType[] = ['completed', 'failed'];

/** Reads the ids of all that is in some places of a queue, some in each sweep, none of them for long out of sight. */
@Injectable()
export class QueueWalk {
  constructor(
    private readonly store: Store,
    private readonly walks: Walks,
  ) {}

  /** At most so many, from where the walk of that name was, not beyond the queue's end. A dry run leaves it there. */
  async take(
    name: string,
    queue: Queue,
    most: number,
    { dryRun }: Round,
    places = WAITING,
  ): Promise<string[]> {
    const walk = `${name}:${queue.name}`;
    let [at, from] = readPlace(await this.walks.where(walk));
    const found = new Set<string>();
    while (at < places.length && found.size < most) {
      const count = Math.min(PAGE, most - found.size);
      const ids = await this.store.call(() => queue.getRanges([places[at]!], from, from + count - 1, true));
      for (const id of ids) found.add(id);
      if (ids.length < count) [at, from] = [at + 1, 0];
      else from += count;
    }
    const isAtEnd = at === places.length;
    if (!dryRun) await this.walks.note(walk, isAtEnd ? undefined : `${at}|${Math.max(0, from - OVERLAP)}`);
    return [...found];
  }
}

function readPlace(text: string | undefined): [at: number, from: number] {
  const [at = 0, from = 0] = text?.split('|').map(Number) ?? [];
  return [at, from];
}
