import type { Durability, DurabilityOptions } from '../durability/durability.js';
import { openDurability, StoreDurability } from '../durability/store-durability.js';
import { DurabilityUnknownError } from '../model/errors.js';

/** What adds jobs, or cancels them, and answers. */
export interface DurableOptions {
  /** What answers wait for, or an object of your own with `hold(write)`. Default nothing. */
  readonly durability?: DurabilityOptions | Durability;
}

/** An answer, and whether what was written for it is durable; `isHeld` is undefined when that was not asked for. */
export interface Held<Answer> {
  readonly value: Answer;
  readonly isHeld: boolean | undefined;
}

/** Holds answers back until what was written is durable, where that is asked for. */
export class DurableWrites {
  private readonly durability: Durability | undefined;

  /** @param root the prefix of the queues that are written to */
  constructor({ durability }: DurableOptions, client: () => Promise<unknown>, root: string) {
    this.durability = openDurability(durability, client, root);
  }

  async hold<Answer>(write: () => Promise<Answer>): Promise<Held<Answer>> {
    return this.durability ? this.durability.hold(write) : { value: await write(), isHeld: undefined };
  }

  /** What is refused is answered at once. */
  async confirm<Answer>(write: () => Promise<Answer>): Promise<Answer> {
    const { value, isHeld } = await this.hold(write);
    if (isHeld === false) throw new DurabilityUnknownError(value);
    return value;
  }

  /** The same for many, of which some may have been refused. */
  async confirmEach<Answer>(
    write: () => Promise<PromiseSettledResult<Answer>[]>,
  ): Promise<PromiseSettledResult<Answer>[]> {
    const { value, isHeld } = await this.hold(write);
    if (isHeld !== false) return value;
    return value.map((each) =>
      each.status === 'rejected'
        ? each
        : { status: 'rejected', reason: new DurabilityUnknownError(each.value) },
    );
  }

  close(): void {
    if (this.durability instanceof StoreDurability) this.durability.close();
  }
}
