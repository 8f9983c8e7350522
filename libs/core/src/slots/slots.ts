import type { ConnectionOptions, QueueBaseOptions } from 'bullmq';
import { slotLimit, slotName, slotRate } from '../backend/owned-options.js';
import { createMooredBackend } from '../backend/create-backend.js';
import type { MooredBackend } from '../backend/moored-backend.js';
import type { PartOptions } from '../backend/partition-check.js';
import { readRate } from '../backend/ticket.js';
import type { Rate } from '../model/job-options.js';
import { unescapeText } from '../scripts/escape.js';
import { readJobRef } from '../scripts/job-ref.js';

const PAGE = 100;

export interface SlotsOptions extends PartOptions {
  readonly connection: ConnectionOptions;
}

export interface SlotJob {
  readonly queue: string;
  readonly id: string;
  /** Since when it holds the slot or waits for it, ms. */
  readonly since: number;
}

export interface SlotView {
  readonly key: string;
  /** Absent when it was forgotten: the next job that is added or comes to a worker sets it. */
  readonly limit?: number;
  /** Absent for a slot without one; `per` is in ms. */
  readonly rate?: { readonly max: number; readonly per: number };
  /** How long there is no token yet, ms. */
  readonly tokenInMs?: number;
  readonly holding: number;
  readonly waiting: number;
  /** The first hundred. One that was woken holds its slot before it starts. */
  readonly holders: readonly SlotJob[];
  /** The first hundred, in the order in which they will hold it. */
  readonly line: readonly SlotJob[];
}

/** The slots under one prefix. Limit and rate belong to the key: its first job sets them, and only `setLimit` and `setRate` change them. */
export class Slots {
  private readonly backend: MooredBackend;

  constructor({ prefix = 'bull', ...rest }: SlotsOptions) {
    this.backend = createMooredBackend('slots', { ...rest, prefix } as QueueBaseOptions);
  }

  /** Undefined for a key without a limit, which is kept for eight days, and without jobs that hold it or wait for it. */
  async get(key: string): Promise<SlotView | undefined> {
    const name = slotName(key);
    const answer = await this.backend.run('readSlot', [this.limitOf(name), this.backend.root, name, PAGE]);
    const [limit, holding, waiting, holders, line, rate, tokenInMs] = answer as SlotAnswer;
    if (limit === undefined) return undefined;
    return {
      key: unescapeText(name),
      ...(limit !== '' && { limit: Number(limit) }),
      ...(rate && { rate: readRate(rate)!, tokenInMs: tokenInMs! }),
      holding: holding!,
      waiting: waiting!,
      holders: jobsOf(holders!),
      line: jobsOf(line!),
    };
  }

  /**
   * Sets the limit, whatever it was, and answers what it was. A higher one lets the first in line start; a lower one ends nothing, and
   * applies to the jobs that start from then on.
   */
  async setLimit(key: string, limit: number): Promise<number | undefined> {
    return this.#set(key, slotLimit(limit), '');
  }

  /** Sets the rate of all jobs of the slot, whatever it was and whatever they name; null for none. */
  async setRate(key: string, rate: Rate | null): Promise<void> {
    await this.#set(key, '', rate ? slotRate(rate) : '-');
  }

  async #set(key: string, limit: number | '', rate: string): Promise<number | undefined> {
    const name = slotName(key);
    const args = [this.limitOf(name), this.backend.root, name, limit, rate];
    const set = async () => (await this.backend.run('setSlotLimit', args)) as [string, 'more' | 'done'];
    const [before, word] = await set();
    for (let next = word; next === 'more';) [, next] = await set();
    return before === '' ? undefined : Number(before);
  }

  close(): Promise<void> {
    return this.backend.close();
  }

  private limitOf(name: string): string {
    return `${this.backend.root}~limit~${name}`;
  }
}

type SlotAnswer = [
  limit?: string,
  holding?: number,
  waiting?: number,
  holders?: string[],
  line?: string[],
  rate?: string,
  tokenInMs?: number,
];

/** @param entries job and time in µs, in turn */
function jobsOf(entries: readonly string[]): SlotJob[] {
  return Array.from({ length: entries.length / 2 }, (_, i) => ({
    ...readJobRef(entries[2 * i]!),
    since: Math.floor(Number(entries[2 * i + 1]) / 1_000),
  }));
}
