import { durationMs } from '#core/parts';
import { Inject, Injectable } from '@nestjs/common';
import type { JobsOptions } from 'bullmq';
import { MOORING_OPTIONS, type MooringOptions } from '../options.js';
import { KindRegistry } from './kind-registry.js';
import type { Kept, Kind } from './kind.js';

const DEFAULT_AGE = '24h';
const DEFAULT_COUNT = 1_000;
const DAY_S = 86_400;
const LEAST_BACKSTOP_S = 3 * DAY_S;

type State = 'completed' | 'failed';

/** How long, and how many, finished jobs of a kind are kept: as it says, or else as the application does. */
@Injectable()
export class JobRetention {
  private readonly standard: Kept;
  private readonly optionsByKind = new WeakMap<
    Kind,
    Pick<JobsOptions, 'removeOnComplete' | 'removeOnFail'>
  >();

  constructor(
    @Inject(MOORING_OPTIONS) { retention: { age = DEFAULT_AGE, count = DEFAULT_COUNT } = {} }: MooringOptions,
    private readonly kinds: KindRegistry,
  ) {
    this.standard = { age: Math.ceil(durationMs('retention.age', age) / 1_000), count };
  }

  of({ keep }: Kind, state: State): Kept {
    const kept = { ...this.standard, ...keep.completed };
    return state === 'completed' ? kept : { ...kept, ...keep.failed };
  }

  /** Whether the jobs of a queue are removed by a sweep, because something else goes before them. */
  isSwept(queue: string): boolean {
    return this.sharing(queue).some(({ artifacts, keepWanted }) => artifacts || keepWanted);
  }

  /** What BullMQ is told. All kinds of an application are known before its first job is enqueued. */
  optionsOf(kind: Kind): Pick<JobsOptions, 'removeOnComplete' | 'removeOnFail'> {
    let options = this.optionsByKind.get(kind);
    if (!options) {
      const isAsked = this.sharing(kind.queue).some(({ keepWanted }) => keepWanted);
      options = {
        removeOnComplete: isAsked ? false : this.removal(kind, 'completed'),
        removeOnFail: this.removal(kind, 'failed'),
      };
      this.optionsByKind.set(kind, options);
    }
    return options;
  }

  /**
   * Where artifacts are removed before their jobs, BullMQ removes only what no sweep has come for: by an age far above that of every
   * kind of the queue, and by no count. A job that ends has others of its queue removed, whatever their kind, by the clock of its worker.
   */
  private removal(kind: Kind, state: State): Kept | { readonly age: number } {
    const sharing = this.sharing(kind.queue);
    if (!sharing.some(({ artifacts }) => artifacts)) return this.of(kind, state);
    const longest = Math.max(...sharing.map((each) => this.of(each, state).age));
    return { age: Math.max(2 * longest + DAY_S, LEAST_BACKSTOP_S) };
  }

  private sharing(queue: string): Kind[] {
    return this.kinds.all().filter((kind) => kind.queue === queue);
  }
}
