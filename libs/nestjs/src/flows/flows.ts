import { MooredFlowProducer } from '#core';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { FlowJob, JobsOptions } from 'bullmq';
import { answerOf, isDurable } from '../enqueue/durable-answer.js';
import type { JobOrigin } from '../enqueue/job-origin.js';
import { JobRequests } from '../enqueue/job-requests.js';
import { QueueRegistry } from '../enqueue/queue-registry.js';
import { factsOf } from '../journal/fact.js';
import { Journal } from '../journal/journal.js';
import { MOORING_OPTIONS, type MooringOptions } from '../options.js';
import { FlowReader, type ChildPolicy, type Flow, type ReadFlow } from './flow.js';

/** What BullMQ is told of a child, for each policy of its parent. */
const ON_FAILURE: Readonly<Record<ChildPolicy, JobsOptions>> = {
  fail: { failParentOnFailure: true },
  continue: { continueParentOnFailure: true },
  ignore: { ignoreDependencyOnFailure: true },
};

/** What was made of a flow: the ids of its jobs. */
export interface FlowTicket {
  readonly id: string;
  readonly kind: string;
  readonly queue: string;
  readonly owners: readonly string[];
  readonly children: readonly FlowTicket[];
  /** Of the top one, for all: as of a single job. */
  readonly durable?: boolean;
}

/** Adds trees of jobs, in which each job waits for its children: all of a tree, or nothing, in one step. */
@Injectable()
export class Flows implements OnApplicationShutdown {
  private opened: MooredFlowProducer | undefined;

  constructor(
    @Inject(MOORING_OPTIONS) private readonly options: MooringOptions,
    private readonly requests: JobRequests,
    private readonly queues: QueueRegistry,
    private readonly journal: Journal,
  ) {}

  async add(flow: Flow, origin?: JobOrigin): Promise<FlowTicket> {
    const top = await new FlowReader(this.requests, origin).read(flow);
    const { durable } = await answerOf<unknown>(this.producer.add(toBull(top)));
    const ticket = ticketOf(top);
    this.tell(top);
    return isDurable(this.options) ? { ...ticket, durable } : ticket;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.opened?.close();
  }

  private tell({ id, kind, options: opts, children }: ReadFlow): void {
    const facts = factsOf({ id, name: kind.name, queueName: kind.queue, opts });
    this.journal.tell({ event: 'job.accepted', ...facts });
    children.forEach((child) => this.tell(child));
  }

  private get producer(): MooredFlowProducer {
    if (!this.opened) {
      const { connection, prefix, durability } = this.options;
      this.opened = new MooredFlowProducer({
        connection,
        limits: { perQueue: this.queues.maxWaitingIn('') },
        ...(prefix !== undefined && { prefix }),
        ...(durability && { durability }),
      });
      this.opened.on('error', (error: Error) => this.journal.trouble('Flows', error));
    }
    return this.opened;
  }
}

/** A parent keeps the list of its children: BullMQ forgets those that are removed, and their order. */
function toBull(
  { kind, payload, options, onChildFailure, children }: ReadFlow,
  above?: ChildPolicy,
): FlowJob {
  const family = children.length > 0 && {
    family: { onChildFailure, children: children.map((child) => [child.id, child.kind.name] as const) },
  };
  return {
    name: kind.name,
    queueName: kind.queue,
    data: payload,
    opts: { ...options, ...(above && ON_FAILURE[above]), ...family },
    children: children.map((child) => toBull(child, onChildFailure)),
  };
}

function ticketOf({ id, kind, owners, children }: ReadFlow): FlowTicket {
  return { id, kind: kind.name, queue: kind.queue, owners, children: children.map(ticketOf) };
}
