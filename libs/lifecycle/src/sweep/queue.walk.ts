import { Injectable } from '@nestjs/common';
import type { JobType, Queue } from 'bullmq';
import { Store } from '../store.js';
import type { Round } from './sweep.js';
import { Walks } from './walks.js';

/** Where jobs wait, in BullMQ's words. */
export const WAITING: readonly JobType[] = ['wait', 'prioritized', 'delayed', 'waiting-children'];
/** Reading on in a list of which much was taken meanwhile, some are passed over: so far it goes back, at most. */
const OVERLAP = 50;
const PAGE = 500;

/** Where jobs are kept that ended. */
export const ENDED: readonly JobType[] = ['completed', 'failed'];

/** A part of a walk. */
interface Taken {
  readonly ids: readonly string[];
  /** Whether it has come to the queue's end. */
  readonly isLast: boolean;
}

/** Reads the ids of all that is in some places of a queue, some in each sweep, none of them for long out of sight. */
@Injectable()
export class QueueWalk {
  constructor(
    private readonly store: Store,
    private readonly walks: Walks,
  ) {}

  /** At most so many, from where the walk of that name was, not beyond the queue's end. A dry run leaves it there. */
  async take(name: string, queue: Queue, most: number, { dryRun }: Round, places = WAITING): Promise<Taken> {
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
    const isLast = at === places.length;
    // A small part goes back less far, so that it gets on.
    const back = Math.min(OVERLAP, Math.floor(most / 2));
    if (!dryRun) await this.walks.note(walk, isLast ? undefined : `${at}|${Math.max(0, from - back)}`);
    return { ids: [...found], isLast };
  }

  /** So many of what was read are taken out: what comes after them has moved up. */
  async goBack(name: string, queue: Queue, by: number): Promise<void> {
    const walk = `${name}:${queue.name}`;
    const text = by > 0 ? await this.walks.where(walk) : undefined;
    if (text === undefined) return;
    const [at, from] = readPlace(text);
    await this.walks.note(walk, `${at}|${Math.max(0, from - by)}`);
  }
}

function readPlace(text: string | undefined): [at: number, from: number] {
  const [at = 0, from = 0] = text?.split('|').map(Number) ?? [];
  return [at, from];
}
