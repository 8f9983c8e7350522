import { Counter, type Registry } from 'prom-client';

/** Callers name types as they like; a metric must not grow with what they think of. */
const MOST_TYPES = 100;
const OTHER = 'other';

/** What a cancel says of itself. */
export interface CancelFact {
  readonly owner?: string;
  readonly jobOnly?: true;
}

/** Counts cancels by the type of their owner. The first hundred types of this process are told apart. */
export class CancelCounter {
  private readonly types = new Set<string>();
  private readonly counter: Counter<'what' | 'type'>;

  constructor(registry: Registry) {
    this.counter = new Counter({
      name: 'mooring_cancels_total',
      help: 'Cancels of owners and of single jobs, by the type of the owner.',
      labelNames: ['what', 'type'],
      registers: [registry],
    });
  }

  record({ owner = '', jobOnly }: CancelFact): void {
    const [type] = owner.split(':', 1) as [string];
    if (this.types.size < MOST_TYPES) this.types.add(type);
    this.counter.inc({
      what: jobOnly ? 'job' : 'owner',
      type: this.types.has(type) ? type : OTHER,
    });
  }
}
