import { Injectable } from '@nestjs/common';
import type { JobState } from 'bullmq';
import { setTimeout as pause } from 'node:timers/promises';
import { FoundJobs } from '../cancel/found.jobs.js';
import { holdWrite, type Durability } from '../durability.js';
import { QueueFullError, StoreUnavailableError } from '../errors.js';
import { Slots } from '../gate/slots.js';
import { Journal } from '../journal.js';
import { checkKey } from '../kinds/check-key.js';
import type { Envelope } from '../kinds/envelope.js';
import { newJobId } from '../kinds/ids.js';
import { KindRegistry } from '../kinds/kind.registry.js';
import type { Kind, PayloadIn } from '../kinds/kind.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { SlotLimits } from '../slots/slot-limits.js';
import { Store } from '../store.js';
import { Deadlines } from '../sweep/deadlines.js';
import { Adds } from './adds.js';
import { Admission } from './admission.js';
import { Duplicates } from './duplicates.js';
import { Idempotency } from './idempotency.js';
import { NewJobs } from './new-jobs.js';
import { readRequest, refuseToExpire, type EnqueueOptions, type JobRequest } from './request.js';
import { Replacements } from './replacements.js';
import { isTooLate, Reservations, tooSlow, type Epochs, type Reservation } from './reservation.js';
import { Twins } from './twins.js';

/** How often a request looks for its twin before it gives up: each time it found one that was on its way out. */
const ROUNDS = 5;
/** How long a repeat waits for the answer to the call that it repeats. */
const FIRST_CALL_LOOKS = 10;
const FIRST_CALL_LOOK_MS = 25;

/** How long a trigger waits, look by look, for its twin to be added by the producer of the twin. */
const PRODUCER_LOOKS_MS = [5, 10, 20, 40, 75, 100];

/** Who else knows the id of a call's job: nobody; the calls that will repeat it; the calls that it repeats. */
type Sharing = 'alone' | 'first' | 'repeat';

/** What a job has that a producer left undone: it is chosen already, and none of it is a caller's to say. */
interface Left extends Pick<JobRequest, 'dedup' | 'slot'> {
  readonly jobId: string;
  readonly epochs: Epochs;
}

/** What enqueue answers: what became of the request, and the id of the job that will do it. */
export interface Ticket {
  readonly outcome: 'created' | 'skipped' | 'coalesced' | 'replaced';
  readonly id: string;
  readonly kind: string;
  readonly queue: string;
  readonly owners: readonly string[];
  /** The job whose place it took. */
  readonly replaced?: string;
  /** Whether `durability` confirmed it; absent without `durability`. */
  readonly durable?: boolean;
}

/**
 * Accepts a job, or refuses it before anything is written. The order makes a crash between any two steps harmless: a
 * place in the queue, a place in the owner's index, and only then the job, whose id was chosen at the start.
 */
@Injectable()
export class Enqueuer {
  private readonly maxPayloadBytes: number;
  private readonly durability: Durability | undefined;

  constructor(
    options: LifecycleOptions,
    private readonly kinds: KindRegistry,
    private readonly store: Store,
    private readonly admission: Admission,
    private readonly reservations: Reservations,
    private readonly slots: Slots,
    private readonly slotLimits: SlotLimits,
    private readonly deadlines: Deadlines,
    private readonly newJobs: NewJobs,
    private readonly adds: Adds,
    private readonly twins: Twins,
    private readonly found: FoundJobs,
    private readonly replacements: Replacements,
    private readonly duplicates: Duplicates,
    private readonly idempotency: Idempotency,
    private readonly journal: Journal,
  ) {
    this.maxPayloadBytes = options.maxPayloadBytes ?? LIFECYCLE_DEFAULTS.maxPayloadBytes;
    this.durability = options.durability;
  }

  async enqueue<K extends Kind>(kind: K, payload: PayloadIn<K>, options: EnqueueOptions): Promise<Ticket> {
    this.kinds.get(kind.name);
    const request = readRequest(kind, payload, options, this.maxPayloadBytes);
    refuseToExpire(request, options);
    const { idempotencyKey } = options;
    if (idempotencyKey !== undefined) checkKey(idempotencyKey, 'The Idempotency-Key');
    return this.hold(() =>
      idempotencyKey === undefined
        ? this.accept(request, newJobId(kind.queue), 'alone')
        : this.acceptOnce(request, idempotencyKey, [kind.name, payload, options]),
    );
  }

  /** For who has work to do before it enqueues, which would be in vain. Enqueuing decides, as ever. @throws QueueFullError */
  async checkRoom(kind: Kind): Promise<void> {
    await this.store.call(() => this.admission.checkRoom(kind.queue));
  }

  /**
   * The job of something that has happened once, whoever tells of it and how often: it has its id from there. It belongs
   * to owners as they were when it was ordered, and is refused when one of them was cancelled since.
   * @internal
   */
  async enqueueOnce(
    kind: Kind,
    payload: unknown,
    options: EnqueueOptions,
    {
      jobId,
      epochs,
      attempts,
    }: { readonly jobId: string; readonly epochs: Epochs; readonly attempts?: number },
  ): Promise<Ticket> {
    const read = readRequest(kind, payload, options, this.maxPayloadBytes);
    // What was accepted before, as a schedule is, goes on under the limit that its slot's key has now.
    const known = { ...read, claim: undefined };
    const request = attempts === undefined ? known : withAttempts(known, attempts);
    return this.store.call(() => this.acceptAgain(request, jobId, epochs));
  }

  /**
   * A job that has its place, and that its producer did not live to add, as far as it is known what it is. When its
   * place has gone since, a pending twin does it.
   * @internal
   */
  async enqueueLeft(
    kind: Kind,
    payload: unknown,
    options: EnqueueOptions,
    { jobId, epochs, dedup, slot }: Left,
  ): Promise<Ticket> {
    const plain = readRequest(
      kind,
      payload,
      { ...options, dedup: { strategy: 'none' } },
      this.maxPayloadBytes,
    );
    return this.store.call(() =>
      this.acceptAgain({ ...plain, strategy: 'skip', dedup, slot }, jobId, epochs),
    );
  }

  private async hold(accept: () => Promise<Ticket>): Promise<Ticket> {
    const { value, isHeld } = await holdWrite(this.durability, () => this.store.call(accept));
    return isHeld === undefined ? value : { ...value, durable: isHeld };
  }

  private async acceptOnce(request: JobRequest, key: string, whole: unknown): Promise<Ticket> {
    let memory = await this.idempotency.begin(key, whole, newJobId(request.kind.queue));
    // The first call may be on its way to its answer, which says more than what can be seen of its job.
    for (let looks = 0; looks < FIRST_CALL_LOOKS && 'isRepeat' in memory && memory.isRepeat; looks += 1) {
      await pause(FIRST_CALL_LOOK_MS);
      memory = await this.idempotency.begin(key, whole, memory.jobId);
    }
    if ('ticket' in memory) return memory.ticket;
    // Whatever goes wrong, the key keeps its id: a repeat makes this job or none.
    const ticket = memory.isRepeat
      ? await this.acceptAgain(request, memory.jobId)
      : await this.accept(request, memory.jobId, 'first');
    return this.idempotency.end(key, ticket);
  }

  /** The job of a call whose answer is not known: it may be there, or have ended, and is not to be reserved for ever. */
  private async acceptAgain(request: JobRequest, jobId: string, expected: Epochs = []): Promise<Ticket> {
    const { queue } = request.kind;
    if ((await this.twins.look(queue, jobId)) !== 'unknown') return this.ticket('created', request, jobId);
    const ticket = await this.accept(request, jobId, 'repeat', expected);
    if (ticket.id === jobId && isOver(await this.twins.look(queue, jobId)))
      await this.reservations.giveUp(request, jobId);
    return ticket;
  }

  private async accept(
    request: JobRequest,
    jobId: string,
    sharing: Sharing,
    expected: Epochs = [],
  ): Promise<Ticket> {
    const { queue } = request.kind;
    if (request.claim) await this.slotLimits.check(request.claim);
    try {
      await this.admission.enter(queue);
    } catch (refusal) {
      return await this.acceptInFull(request, jobId, refusal, expected);
    }
    let takesPlace = false;
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        const reservation = await this.reservations.reserve(request, jobId, expected);
        const { outcome, twin, isRepeat } = reservation;
        switch (outcome) {
          case 'new':
          case 'replace':
            // The store also says so of a call that the client sent twice by itself; that one was counted once.
            takesPlace = !(isRepeat && sharing === 'repeat');
            if (!(await this.add(request, jobId, reservation))) {
              takesPlace = false;
              if (sharing === 'alone') await this.giveUp(request, jobId);
              throw tooSlow();
            }
            if (outcome === 'new') return this.ticket('created', request, jobId);
            // Its own job is accepted, whatever becomes of this.
            await this.remove(twin!, jobId, reservation).catch((error: unknown) =>
              this.journal.queueError(queue, error),
            );
            return { ...this.ticket('replaced', request, jobId), replaced: twin! };
          case 'skip':
          case 'coalesce':
            if (await this.leaveTo(request, twin!, reservation, expected))
              return this.ticket(outcome === 'skip' ? 'skipped' : 'coalesced', request, twin!);
        }
      }
    } finally {
      if (!takesPlace) this.admission.leave(queue);
    }
    throw new StoreUnavailableError('The pending jobs of this key change too fast to follow.');
  }

  /** A full queue takes no job more; a trigger that adds none can be left to its twin all the same. */
  private async acceptInFull(
    request: JobRequest,
    jobId: string,
    refusal: unknown,
    expected: Epochs,
  ): Promise<Ticket> {
    const { strategy, kind, owners } = request;
    if (!(refusal instanceof QueueFullError) || (strategy !== 'skip' && strategy !== 'coalesce'))
      throw refusal;
    const makesNone = { ...request, owners: owners.slice(0, 1), kind: { ...kind, maxPerOwner: 0 } };
    const reservation = await this.reservations
      .reserve(makesNone, jobId, expected)
      .catch((error: unknown) => {
        throw error instanceof QueueFullError ? refusal : error;
      });
    const { twin, outcome } = reservation;
    if (twin === undefined || !(await this.leaveTo(request, twin, reservation, expected))) throw refusal;
    return this.ticket(outcome === 'skip' ? 'skipped' : 'coalesced', request, twin);
  }

  /** Whether the pending twin really does what this request asks for; if not, the request has to be made anew. */
  private async leaveTo(
    request: JobRequest,
    twin: string,
    reservation: Reservation,
    expected: Epochs,
  ): Promise<boolean> {
    const { kind, delayMs } = request;
    const state = await this.find(request, twin);
    if (state === 'delayed' && reservation.outcome === 'coalesce')
      await this.twins.moveTo(kind.queue, twin, delayMs);
    if (state !== 'unknown' && !isOver(state)) {
      if (await this.reservations.isKept(request, twin, expected)) return true;
      // Who cancels its further owner takes it out; until then it must not swallow a trigger.
      await this.reservations.giveUp({ ...request, owners: request.owners.slice(0, 1) }, twin);
      return false;
    }

    const isPending = await this.reservations.isPending(request, twin);
    // It began, and completed, after this request was accepted: that start was for it too. Of one that failed nobody
    // can say that it began: it may have come too late. A job too many does no harm.
    if (state === 'completed' && !isPending) return true;
    // It ended without having begun, and its worker died before it could say so.
    if (isOver(state) && isPending) await this.reservations.giveUp(request, twin);
    // It was given up, or replaced.
    if (isOver(state) || !isPending) return false;
    // Its producer has not added it for so long that it seems to have died. Of the twin's own delay and payload
    // nobody knows: it gets those of this request.
    const whole = await this.reservations.withOthers(request, twin, reservation, expected);
    if (!(await this.add(request, twin, whole))) throw tooSlow();
    return true;
  }

  /** Where the twin is. Its producer, between two steps, is waited for: it knows what the twin is to be. */
  private async find(request: JobRequest, twin: string): Promise<JobState | 'unknown'> {
    for (const waitMs of PRODUCER_LOOKS_MS) {
      const state = await this.twins.look(request.kind.queue, twin);
      if (state !== 'unknown' || !(await this.reservations.isPending(request, twin))) return state;
      await pause(waitMs);
    }
    return this.twins.look(request.kind.queue, twin);
  }

  /** Whether it was in time to add the job: whoever cleans the index takes a place without a job for a dead producer's. */
  private async add(request: JobRequest, jobId: string, reservation: Reservation): Promise<boolean> {
    const job = this.newJobs.make(request, jobId, reservation);
    // Nothing refuses the call any more.
    if (request.claim) await this.slotLimits.claim(request.claim);
    if (job.data.s || job.data.x !== undefined)
      await this.prepare(jobId, job.data, request.delayMs, reservation);
    if (isTooLate(reservation)) return false;
    await this.adds.add(request.kind.queue, job);
    return true;
  }

  /** What is to be there before the job is. */
  private async prepare(
    jobId: string,
    envelope: Envelope,
    delayMs: number,
    { atMs }: Reservation,
  ): Promise<void> {
    await Promise.all([
      // One that is due later stands in line when it comes.
      envelope.s && delayMs === 0 && this.slots.stand({ envelope, jobId }),
      this.deadlines.note(jobId, envelope, atMs),
    ]);
  }

  /**
   * Nothing stays of a job that nobody else can know of. One with a key may be another's by now, who found it pending; its
   * place stays as if its producer had died, and the next trigger of the key adds it.
   */
  private async giveUp(request: JobRequest, jobId: string): Promise<void> {
    if (request.dedup !== '') return;
    await this.reservations.giveUp(request, jobId);
    if (request.slot) await this.slots.quit({ envelope: { s: [...request.slot, 0] }, jobId });
  }

  /** For tidiness: the gate refuses the replaced one already. One that a worker holds is refused there. */
  private async remove(replaced: string, jobId: string, { atMs }: Reservation): Promise<void> {
    await this.replacements.takeOut(await this.found.find(replaced), jobId, atMs);
  }

  private ticket(outcome: Ticket['outcome'], { kind, owners }: JobRequest, id: string): Ticket {
    const facts = { queue: kind.queue, kind: kind.name, jobId: id, owner: owners[0]! };
    if (outcome === 'created' || outcome === 'replaced') this.journal.jobAccepted(facts);
    else {
      this.journal.jobDeduplicated(facts, outcome);
      this.duplicates.tell(kind.queue, id, outcome);
    }
    return { outcome, id, kind: kind.name, queue: kind.queue, owners };
  }
}

/** As its own program had it; how long it waits in between is its kind's affair. */
function withAttempts(request: JobRequest, attempts: number): JobRequest {
  return { ...request, options: { ...request.options, attempts, backoff: { type: 'kind' } } };
}

function isOver(state: JobState | 'unknown'): boolean {
  return state === 'completed' || state === 'failed';
}
