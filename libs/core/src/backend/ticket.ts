import { RedisQueueBackend } from 'bullmq';
import {
  IdempotencyConflictError,
  OwnerCancelledError,
  OwnerClosedError,
  OwnerFullError,
  QueueFullError,
  SlotLimitError,
  StoreFullError,
} from '../model/errors.js';
import { unescapeText } from '../scripts/escape.js';

/** What `enqueue` answers. With `skipped` and `coalesced` the id is that of the pending job. */
export interface Ticket {
  readonly outcome: 'created' | 'existing' | 'skipped' | 'coalesced' | 'replaced';
  readonly id: string;
  /** The job whose place this one took. */
  readonly replaced?: string;
  /** This is the answer to an earlier request with the same idempotency key. */
  readonly isRepeat?: true;
}

type Detail = string | number;
export type AddAnswer = 'created' | [word: string, detail?: Detail, ...repeated: Detail[]];

/** The ticket of a job of many, or what refused it. */
export function ticketIn(settled: PromiseSettledResult<Ticket>): Ticket {
  if (settled.status === 'rejected') throw settled.reason;
  return settled.value;
}

/** The ticket of an added job. What was refused is thrown. */
export function ticketOf(id: string, answer: AddAnswer, queue: string): Ticket {
  if (answer === 'created') return { outcome: 'created', id };
  const [word, detail, earlier, earlierDetail] = answer;
  switch (word) {
    case 'replaced':
      return { outcome: 'replaced', id, replaced: String(detail) };
    case 'existing':
    case 'skipped':
    case 'coalesced':
      return { outcome: word, id: String(detail) };
    case 'repeated': {
      const first: AddAnswer = earlier === 'created' ? 'created' : [String(earlier), earlierDetail!];
      return { ...ticketOf(String(detail), first, queue), isRepeat: true };
    }
    case 'conflict':
      throw new IdempotencyConflictError();
    case 'closed':
    case 'slot-limit':
      throw refusalOf(word, String(detail));
    case 'ended':
      throw new OwnerCancelledError(unescapeText(String(detail)));
    case 'owner-full':
      throw new OwnerFullError(unescapeText(String(detail)));
    case 'queue-full':
      throw new QueueFullError(queue, Number(detail));
    default:
      throw failure(id, String(detail));
  }
}

/** What refuses a job, a retry or a scheduler. */
export function refusalOf(word: 'closed' | 'slot-limit', detail: string): Error {
  if (word === 'closed') return new OwnerClosedError(unescapeText(detail));
  const [limit, rate] = detail.split(' ');
  return new SlotLimitError(Number(limit), undefined, readRate(rate));
}

/** `10/1000`, as the scripts have it. */
export function readRate(text: string | undefined): { max: number; per: number } | undefined {
  if (!text) return undefined;
  const [max, per] = text.split('/').map(Number);
  return { max: max!, per: per! };
}

function failure(jobId: string, text: string): Error {
  if (isOutOfMemory(text)) return new StoreFullError();
  return bullRefusal(jobId, text) ?? new Error(text);
}

/** What a step that adds jobs failed with, as its callers know it. */
export function addError(error: Error): Error {
  return isOutOfMemory(error.message) ? new StoreFullError({ cause: error }) : error;
}

function isOutOfMemory(text: string): boolean {
  return /\bOOM\b/.test(text);
}

/** BullMQ's own error, for a code and the parent that it is about. */
function bullRefusal(jobId: string, text: string): Error | undefined {
  const [, code, parentKey = ''] = /^BULLMQ (-\d+) ?(\S*)/.exec(text) ?? [];
  if (!code) return undefined;
  return RedisQueueBackend.prototype.finishedErrors({
    code: Number(code),
    jobId,
    parentKey,
    command: 'addJob',
  });
}
