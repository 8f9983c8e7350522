import type { Redis } from 'ioredis';
import { SlotServer, StoreDurability, type Durability, type DurabilityLevel } from '#durability';
import { DurabilityUnknownError, InvalidJobError } from '../model/errors.js';

/** What an answer waits for: nothing, a replica, or the disk of the server that took the write. */
export interface DurabilityOptions {
  readonly level: 'none' | DurabilityLevel;
  /** How long a caller waits for it. Default 1 s. */
  readonly timeoutMs?: number;
}

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

  /** What is refused is answered at once. Without durability an answer comes as early as BullMQ's does. */
  confirm<Answer>(write: () => Promise<Answer>): Promise<Answer> {
    return this.durability ? this.confirmHeld(write) : write();
  }

  private async confirmHeld<Answer>(write: () => Promise<Answer>): Promise<Answer> {
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

/** What the options ask for; undefined if they ask for nothing. */
function openDurability(
  options: Durability | DurabilityOptions | undefined,
  client: () => Promise<unknown>,
  root: string,
): Durability | undefined {
  if (!options || 'hold' in options) return options;
  const { level, timeoutMs } = options;
  if (level === 'none') return undefined;
  if (level !== 'replica' && level !== 'disk')
    throw new InvalidJobError('The level of durability is none, replica or disk.');
  if (timeoutMs !== undefined && !(timeoutMs > 0))
    throw new InvalidJobError('timeoutMs of durability is a number above 0.');
  const servers = new SlotServer(client as () => Promise<Redis>, `${root}~barrier`);
  const refuse = (why: string) =>
    new InvalidJobError(
      `durability "${level}": the store ${why}. Change the store, or use "none". Nothing was written.`,
    );
  return new StoreDurability({ servers, level, timeoutMs, refuse });
}
