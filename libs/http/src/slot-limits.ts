import { Slots, type Slot, type SlotJob } from '#core';
import { slotKeyOfCallers } from '#nestjs';
import { Inject, Injectable } from '@nestjs/common';
import type { z } from 'zod';
import type { SlotAnswer } from './admin-schemas.js';

export type CallersSlot = z.output<typeof SlotAnswer>;

const NONE = { holding: 0, waiting: 0, holders: [], line: [], limit: undefined };

/** The slot keys that callers name. They are apart from those of kinds. */
@Injectable()
export class SlotLimits {
  constructor(@Inject(Slots) private readonly slots: Slots) {}

  async read(key: string): Promise<CallersSlot> {
    const {
      limit = null,
      holders,
      line,
      holding,
      waiting,
    } = (await this.slots.get(slotKeyOfCallers(key))) ?? NONE;
    return {
      key,
      limit,
      holding,
      waiting,
      holders: holders.map(holderOf),
      waiters: line.map(({ id }) => id),
    };
  }

  /** Sets the limit, and answers what it was. */
  async set(key: string, limit: number): Promise<number | null> {
    return (await this.slots.setLimit(slotKeyOfCallers(key), limit)) ?? null;
  }
}

/** The slot that a caller asks for. */
export function slotOfCallers({ key, limit }: Slot): Slot {
  return { key: slotKeyOfCallers(key), limit };
}

function holderOf({ id, since }: SlotJob): CallersSlot['holders'][number] {
  return { jobId: id, since: new Date(since).toISOString() };
}
