import { Handler, Handles, LifecycleError, NotNow, reason, type Payload, type Run } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { end, provision } from './containers.kinds.js';
import { ContainerRemoval } from './containers.removal.js';
import {
  ContainerEngine,
  NoSuchImage,
  type Container,
  type ContainerSpec,
} from './engines/container.engine.js';
import { placeOf } from './engine.place.js';
import { FleetSignature } from './fleet.signature.js';
import { LeaseClosing } from './lease.closing.js';
import { LeaseRepository } from './leases.repository.js';
import { LeaseReaper } from './reaper/lease.reaper.js';

/** How long the engine may take for a container, and how long one may still come to be that it was asked for. */
const CREATE_MS = 10_000;
const MAKING_MS = 12_000;

interface Making {
  readonly leaseId: string;
  readonly spec: ContainerSpec;
  /** Until when it may come to be, by the store; and by our own clock, from before the store counted. */
  readonly making: string;
  readonly until: number;
}

/** Makes the container of a lease, or finds it made. */
@Injectable()
@Handles(provision)
export class ProvisionHandler extends Handler<typeof provision> {
  constructor(
    private readonly leases: LeaseRepository,
    private readonly engine: ContainerEngine,
    private readonly signature: FleetSignature,
    private readonly closing: LeaseClosing,
    private readonly removal: ContainerRemoval,
  ) {
    super();
  }

  async handle({ leaseId }: Payload<typeof provision>, run: Run): Promise<object> {
    // Before the store counts: whatever delays its answer, or us, is not added to what the engine may take.
    const until = performance.now() + CREATE_MS;
    const [word, what, number, making] = await this.leases.begin(leaseId, MAKING_MS);
    switch (word) {
      case 'has':
        return { containerId: what };
      case 'over':
        return { containerId: null, why: `the lease is ${what}` };
      case 'make': {
        const signed = await this.signature.sign(leaseId, what!, number!);
        const [endsInMs] = await this.leases.leftMs([leaseId]);
        const spec = { ...signed, ...(endsInMs !== undefined && { endsInMs }) };
        return this.makeOrFail({ leaseId, spec, making: making!, until }, run);
      }
    }
  }

  private async makeOrFail(order: Making, run: Run): Promise<object> {
    try {
      return await this.make(order);
    } catch (error) {
      if (error instanceof NoSuchImage) return await this.fail(order.leaseId, reason(error));
      // A store that did not answer may have heard that it is there. Of one that is not, the sweep sends the job again.
      if (error instanceof LifecycleError) throw error;
      const isLast = run.attempt >= provision.attempts && !run.signal.aborted;
      if (isLast) await this.closing.close(order.leaseId, 'failed', reason(error));
      throw error;
    }
  }

  /** Once asked for it is waited for, also when the lease ends meanwhile: only so it is known what there is to remove. */
  private async make({ leaseId, spec, making, until }: Making): Promise<object> {
    const leftMs = Math.floor(until - performance.now());
    if (leftMs <= 0) throw new Error('There was no time left to ask the engine for it.');
    const container = await this.engine.create(spec, AbortSignal.timeout(leftMs));
    if (!(await this.removal.isOf(leaseId, container)))
      return this.fail(leaseId, `the name ${container.name} is taken by a container that is not ours`);
    if (!container.running) return this.beginAnew(leaseId, container);
    const made = { id: container.id, createdAt: container.createdAt, engine: placeOf(this.engine) };
    const [word] = await this.leases.attach(leaseId, made);
    if (word === 'running') return { containerId: container.id };
    // Should this fail, the reaper or the sweep finds it.
    await this.removal.remove(container, leaseId, 1, AbortSignal.timeout(CREATE_MS));
    await this.leases.settled(leaseId, making);
    return { containerId: null, why: 'the lease has ended' };
  }

  /** It ended before anybody had it: the next attempt makes another. */
  private async beginAnew(leaseId: string, container: Container): Promise<never> {
    await this.removal.remove(container, leaseId, 1, AbortSignal.timeout(CREATE_MS));
    throw new Error('The container stopped as soon as it was made.');
  }

  /** For good: the engine has said that there is nothing of ours. */
  private async fail(leaseId: string, why: string): Promise<object> {
    await this.closing.close(leaseId, 'failed', why, true);
    return { containerId: null, why };
  }
}

/** Ends a lease when its time is over; of one that was renewed it waits on. */
@Injectable()
@Handles(end)
export class EndHandler extends Handler<typeof end> {
  constructor(
    private readonly leases: LeaseRepository,
    private readonly reaper: LeaseReaper,
  ) {
    super();
  }

  async handle({ leaseId }: Payload<typeof end>, run: Run): Promise<object> {
    const ended = await this.reaper.end(leaseId, run.signal);
    switch (ended.outcome) {
      case 'ended':
      case 'over':
      case 'manual':
        return ended;
      case 'early':
        throw new NotNow('the lease has time left', ended.forMs, () => this.isEnding(leaseId));
      case 'again':
        throw new NotNow(ended.why, ended.forMs);
    }
  }

  /** It may have been ended in the moment in which there was nobody yet to wake. */
  private async isEnding(leaseId: string): Promise<boolean> {
    const [state] = await this.leases.states([leaseId]);
    return state !== 'provisioning' && state !== 'running';
  }
}
