import { formatOwner, Owners, type Owner } from '#core';
import { receiptOf } from '#nestjs';
import { Injectable } from '@nestjs/common';
import { hash } from 'node:crypto';
import type { CloudEvent } from './cloud-event.js';
import { EventOptions, notify } from './options.js';

/** Outcome of an event. `late`: the owner was reopened after the event, so nothing was cancelled. */
export interface EventResult {
  readonly id: string;
  readonly source: string;
  readonly outcome: 'cancelled' | 'ignored' | 'late';
  readonly owner?: string;
  readonly cancelId?: string;
  readonly why?: string;
}

const MAX_TEXT = 500;

/** Processes events of other services: an event of a mapped type cancels its owner. */
@Injectable()
export class Intake {
  constructor(
    private readonly options: EventOptions,
    private readonly owners: Owners,
  ) {}

  /** @param check throws if the sender may not cancel the owner */
  async take(event: CloudEvent, check?: (owner: Owner) => void): Promise<EventResult> {
    const result = { id: event.id, source: event.source, ...(await this.cancel(event, check)) };
    notify(this.options, { event: 'event.taken', type: event.type, ...result });
    return result;
  }

  private async cancel(
    event: CloudEvent,
    check?: (owner: Owner) => void,
  ): Promise<Omit<EventResult, 'id' | 'source'>> {
    const target = this.options.mapping.find(event);
    if (!target) return { outcome: 'ignored', why: 'no owner is mapped to events of its type' };
    check?.(target.owner);
    const cancelled = this.owners.cancel(target.owner, {
      reason: cut(`event ${event.type} of ${event.source}`),
      close: target.close,
      by: cut(event.source),
      cancelId: cancelIdOf(event),
      ...(event.timeMs !== undefined && { happenedAt: event.timeMs }),
    });
    const receipt = await receiptOf(cancelled);
    const owner = formatOwner(target.owner);
    if (receipt.late) return { outcome: 'late', owner, why: 'its owner was reopened after it happened' };
    return { outcome: 'cancelled', owner, cancelId: receipt.cancelId };
  }
}

/** Shortens a text to the limit of a receipt, without leaving half of a surrogate pair. */
function cut(text: string): string {
  return text.slice(0, MAX_TEXT).replace(/\p{Surrogate}$/u, '');
}

/** Source and id identify an event, so processing it twice repeats the same cancellation. */
export function cancelIdOf({ source, id }: CloudEvent): string {
  return `event:${hash('sha256', JSON.stringify([source, id]), 'base64url').slice(0, 22)}`;
}
