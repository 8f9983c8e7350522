import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { FlowProducer, type FlowJob as BullFlow } from 'bullmq';
import { holdWrite } from '../durability.js';
import { Admission } from '../enqueue/admission.js';
import { NewJobs, type NewJob } from '../enqueue/new-jobs.js';
import { isTooLate, Reservations, tooSlow, type Reservation } from '../enqueue/reservation.js';
import { OwnerMovedError, StoreUnavailableError } from '../errors.js';
import { Slots } from '../gate/slots.js';
import { Journal } from '../journal.js';
import type { ChildPolicy } from '../kinds/envelope.js';
import { KindRegistry } from '../kinds/kind.registry.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { queuePrefix } from '../queues.js';
import { Store } from '../store.js';
import { Deadlines } from '../sweep/deadlines.js';
import { jobsOf, readFlow, type Flow, type FlowJob } from './flow.js';

/** How often a flow is reserved anew because an owner was cancelled meanwhile. */
const ROUNDS = 5;

/** BullMQ asks the child what its failure means to its parent. */
const POLICY: Readonly<Record<ChildPolicy, BullFlow['opts']>> = {
  fail: { failParentOnFailure: true },
  continue: { continueParentOnFailure: true },
  ignore: { ignoreDependencyOnFailure: true },
};

/** A job that has its places, and what BullMQ is given of it. */
interface Placed {
  readonly reservation: Reservation;
  readonly job: NewJob;
}

type Made = ReadonlyMap<FlowJob, Placed>;

/** What became of a flow: the ids of its jobs. */
export interface FlowTicket {
  readonly id: string;
  readonly kind: string;
  readonly queue: string;
  readonly owners: readonly string[];
  readonly children: readonly FlowTicket[];
  /** Of the top one, for all: as of a single job. */
  readonly durable?: boolean;
}

/**
 * Accepts a tree of jobs, all of them or none. Each goes the way of any job: a place in its queue, a place with its
 * owners, and only then all of them to BullMQ, in one transaction, under ids that were chosen at the start.
 */
@Injectable()
export class Flows implements OnApplicationShutdown {
  private readonly maxPayloadBytes: number;
  private opened: FlowProducer | undefined;

  constructor(
    private readonly options: LifecycleOptions,
    private readonly kinds: KindRegistry,
    private readonly store: Store,
    private readonly admission: Admission,
    private readonly reservations: Reservations,
    private readonly newJobs: NewJobs,
    private readonly slots: Slots,
    private readonly deadlines: Deadlines,
    private readonly journal: Journal,
  ) {
    this.maxPayloadBytes = options.maxPayloadBytes ?? LIFECYCLE_DEFAULTS.maxPayloadBytes;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.opened?.close();
  }

  async add(flow: Flow): Promise<FlowTicket> {
    const top = readFlow(flow, this.maxPayloadBytes);
    const jobs = jobsOf(top);
    for (const { request } of jobs) this.kinds.get(request.kind.name);
    const { isHeld } = await holdWrite(this.options.durability, () =>
      this.store.call(() => this.accept(top, jobs)),
    );
    const ticket = this.ticket(top);
    return isHeld === undefined ? ticket : { ...ticket, durable: isHeld };
  }

  private async accept(top: FlowJob, jobs: readonly FlowJob[]): Promise<void> {
    await this.enter(jobs);
    let takesPlaces = false;
    try {
      const made = await this.reserve(jobs);
      try {
        await this.standAll(jobs, made);
        if (jobs.some((job) => isTooLate(made.get(job)!.reservation))) throw tooSlow();
      } catch (error) {
        await this.giveUp(jobs);
        throw error;
      }
      takesPlaces = true;
      await this.producer().add(toBull(top, undefined, made));
    } finally {
      if (!takesPlaces) for (const { request } of jobs) this.admission.leave(request.kind.queue);
    }
  }

  private async enter(jobs: readonly FlowJob[]): Promise<void> {
    const entries = await Promise.allSettled(
      jobs.map(({ request }) => this.admission.enter(request.kind.queue)),
    );
    const refusal = entries.find((entry) => entry.status === 'rejected');
    if (!refusal) return;
    for (const [i, { status }] of entries.entries())
      if (status === 'fulfilled') this.admission.leave(jobs[i]!.request.kind.queue);
    throw refusal.reason;
  }

  /** A cancel in between makes a part of the flow void. The flow was not accepted yet, so it belongs to what comes after. */
  private async reserve(jobs: readonly FlowJob[]): Promise<Made> {
    for (let round = 0; round < ROUNDS; round += 1) {
      try {
        return await this.reserveOnce(jobs);
      } catch (error) {
        await this.giveUp(jobs);
        if (!(error instanceof OwnerMovedError)) throw error;
      }
    }
    throw new StoreUnavailableError('The owners of this flow are cancelled too often to follow.');
  }

  /**
   * The first job of an owner tells its epoch, and all others expect it: a child must never belong to a later generation
   * than its parent, which a cancel has ended.
   */
  private async reserveOnce(jobs: readonly FlowJob[]): Promise<Made> {
    const reserved = new Map<FlowJob, Reservation>();
    const epochs = new Map<string, string>();
    const reserveOne = async (job: FlowJob): Promise<void> => {
      const { owners } = job.request;
      const expected = owners.map((owner) => epochs.get(owner));
      const reservation = await this.reservations.reserve(job.request, job.id, expected);
      reserved.set(job, reservation);
      for (const [i, owner] of owners.entries()) epochs.set(owner, reservation.epochs[i]!);
    };
    for (const job of jobs) {
      if (job.request.owners.some((owner) => !epochs.has(owner))) await reserveOne(job);
    }
    const answers = await Promise.allSettled(jobs.filter((job) => !reserved.has(job)).map(reserveOne));
    const refusal = answers.find((answer) => answer.status === 'rejected');
    if (refusal) throw refusal.reason;
    return new Map(
      jobs.map((job) => {
        const reservation = reserved.get(job)!;
        return [job, { reservation, job: this.newJobs.make(job.request, job.id, reservation) }];
      }),
    );
  }

  /** All of them answer before one's failure counts: who stands late would stay in line. */
  private async standAll(jobs: readonly FlowJob[], made: Made): Promise<void> {
    const answers = await Promise.allSettled(jobs.map((job) => this.stand(job, made.get(job)!)));
    const failure = answers.find((answer) => answer.status === 'rejected');
    if (failure) throw failure.reason;
  }

  /** A parent comes to its turn when its children have ended; until then a slot would be granted to it in vain. */
  private async stand({ id, children }: FlowJob, { job, reservation }: Placed): Promise<void> {
    const { data } = job;
    await this.deadlines.note(id, data, reservation.atMs);
    if (data.s && children.length === 0) await this.slots.stand({ envelope: data, jobId: id });
  }

  /** A place that cannot be given up now is found by its having no job. */
  private async giveUp(jobs: readonly FlowJob[]): Promise<void> {
    await Promise.allSettled(
      jobs.flatMap(({ request, id }) => [
        this.reservations.giveUp(request, id),
        ...(request.slot ? [this.slots.quit({ envelope: { s: [...request.slot, 0] }, jobId: id })] : []),
      ]),
    );
  }

  /** Only where flows are added: it keeps listeners on the connection. */
  private producer(): FlowProducer {
    const { redis, prefix = LIFECYCLE_DEFAULTS.prefix } = this.options;
    this.opened ??= new FlowProducer({ connection: redis, prefix: queuePrefix(prefix) }).on(
      'error',
      (error) => this.journal.queueError('flows', error),
    );
    return this.opened;
  }

  private ticket({ request: { kind, owners }, id, children }: FlowJob): FlowTicket {
    this.journal.jobAccepted({ queue: kind.queue, kind: kind.name, jobId: id, owner: owners[0]! });
    return {
      id,
      kind: kind.name,
      queue: kind.queue,
      owners,
      children: children.map((child) => this.ticket(child)),
    };
  }
}

function toBull(job: FlowJob, parent: FlowJob | undefined, made: Made): BullFlow {
  const { request, children, onChildFailure } = job;
  const { name, data, opts } = made.get(job)!.job;
  const jobs = children.map((child) => [child.id, child.request.kind.name] as const);
  return {
    queueName: request.kind.queue,
    name,
    data: { ...data, ...(jobs.length > 0 && { c: { on: onChildFailure, jobs } }) },
    opts: { ...opts, ...(parent && POLICY[parent.onChildFailure]) },
    ...(jobs.length > 0 && { children: children.map((child) => toBull(child, job, made)) }),
  };
}
