import { Injectable } from '@nestjs/common';
import { MooringStore } from '../store/mooring-store.js';

const EVENTS_A_READ = 500;
const BEFORE_ALL = '0-0';

type StoredEvent = readonly [id: string, fields: readonly string[]];

export interface Moved {
  readonly ids: readonly string[];
  /** The last event that was read. */
  readonly last: string;
  /** No events follow. */
  readonly isLast: boolean;
  /** Some events are not known: BullMQ keeps the last ten thousand, and does not name the jobs of a queue that is resumed. */
  readonly isLost: boolean;
}

/** The jobs of a queue that went from one of BullMQ's lists and sets to another, by its stream of events. */
@Injectable()
export class MovedJobs {
  constructor(private readonly store: MooringStore) {}

  /** The newest event. */
  async last(queue: string): Promise<string> {
    const [newest] = await this.store.call<StoredEvent[]>('xrevrange', this.key(queue), '+', '-', 'COUNT', 1);
    return newest?.[0] ?? BEFORE_ALL;
  }

  async since(queue: string, event: string): Promise<Moved> {
    const [found, [oldest]] = await Promise.all([
      this.store.call<StoredEvent[]>('xrange', this.key(queue), `(${event}`, '+', 'COUNT', EVENTS_A_READ),
      this.store.call<StoredEvent[]>('xrange', this.key(queue), '-', '+', 'COUNT', 1),
    ]);
    const facts = found.map(([, fields]) => fieldsOf(fields));
    return {
      ids: [...new Set(facts.flatMap((fields) => fields.get('jobId') ?? []))],
      last: found.at(-1)?.[0] ?? event,
      isLast: found.length < EVENTS_A_READ,
      isLost:
        (event !== BEFORE_ALL && oldest !== undefined && isLater(oldest[0], event)) ||
        facts.some((fields) => fields.get('event') === 'resumed'),
    };
  }

  private key(queue: string): string {
    return `${this.store.root}:${queue}:events`;
  }
}

function fieldsOf(fields: readonly string[]): Map<string, string> {
  return new Map(fields.flatMap((name, i) => (i % 2 === 0 ? [[name, fields[i + 1]!] as const] : [])));
}

function isLater(a: string, b: string): boolean {
  const [[ms = 0, number = 0], [otherMs = 0, other = 0]] = [a, b].map((id) => id.split('-').map(Number)) as [
    number[],
    number[],
  ];
  return ms === otherMs ? number > other : ms > otherMs;
}
