import { MooringError } from '#core';
import { Handler, Handles, SnoozeJob, type Payload, type Run } from '#nestjs';
import { Injectable } from '@nestjs/common';
import { end, provision } from './lease-kinds.js';
import { ContainerRemover } from './container-remover.js';
import {
  ContainerEngine,
  NoSuchImage,
  type Container,
  type ContainerSpec,
} from './engines/container-engine.js';
import { FleetSignature } from './fleet-signature.js';
import { LeaseTerminator } from './lease-terminator.js';
import { LeaseRepository } from './lease-repository.js';
import { LeaseReaper } from './reaper/lease-reaper.js';

/** Time limit for creating a container, and for a container to appear after the request. */
const CREATE_MS = 10_000;
const MAKING_MS = 12_000;

interface Making {
  readonly leaseId: string;
  readonly spec: ContainerSpec;
  /** Until when it may appear: by the store's clock, and by the local clock from before the store call. */
  readonly making: string;
  readonly until: number;
}

/** Creates the container of a lease, or finds the existing one. */
@Injectable()
@Handles(provision)
export class ProvisionHandler extends Handler<typeof provision> {
  constructor(
    private readonly leases: LeaseRepository,
    private readonly engine: ContainerEngine,
    private readonly signature: FleetSignature,
    private readonly terminator: LeaseTerminator,
    private readonly removal: ContainerRemover,
  ) {
    super();
  }

  async handle({ leaseId }: Payload<typeof provision>, run: Run): Promise<object> {
    // Measured before the store call, so that a slow answer does not extend the engine's time.
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
      if (error instanceof NoSuchImage) return await this.fail(order.leaseId, error.message);
      // The store may have recorded the container. If it did not, the sweep enqueues this job again.
      if (error instanceof MooringError) throw error;
      const isLast = run.attempt >= provision.attempts && !run.signal.aborted;
      if (isLast) await this.terminator.close(order.leaseId, 'failed', (error as Error).message);
      throw error;
    }
  }

  /**
   * Once requested, the container is awaited even if the lease ends, because only then is it known what to
   * remove.
   */
  private async make({ leaseId, spec, making, until }: Making): Promise<object> {
    const leftMs = Math.floor(until - performance.now());
    if (leftMs <= 0) throw new Error('There was no time left for the engine.');
    const container = await this.engine.create(spec, AbortSignal.timeout(leftMs));
    if (!(await this.removal.isOf(leaseId, container)))
      return this.fail(leaseId, `the name ${container.name} is taken by a container that is not ours`);
    if (!container.running) return this.beginAgain(leaseId, container);
    const made = { id: container.id, createdAt: container.createdAt, engine: await this.engine.address() };
    const [word] = await this.leases.attach(leaseId, made);
    if (word === 'running') return { containerId: container.id };
    // If this fails, the reaper or the sweep finds the container.
    await this.removal.remove(container, leaseId, 1, AbortSignal.timeout(CREATE_MS));
    await this.leases.markSettled(leaseId, making);
    return { containerId: null, why: 'the lease has ended' };
  }

  /** The container ended before it was used: the next attempt creates another. */
  private async beginAgain(leaseId: string, container: Container): Promise<never> {
    await this.removal.remove(container, leaseId, 1, AbortSignal.timeout(CREATE_MS));
    throw new Error('The container stopped as soon as it was made.');
  }

  /** Final: the engine reported that nothing was created. */
  private async fail(leaseId: string, why: string): Promise<object> {
    await this.terminator.close(leaseId, 'failed', why, true);
    return { containerId: null, why };
  }
}

/** Ends a lease at its deadline, and waits on if the lease was renewed. */
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
        throw new SnoozeJob('the lease has time left', ended.forMs, () => this.isEnding(leaseId));
      case 'again':
        throw new SnoozeJob(ended.why, ended.forMs);
    }
  }

  /** The lease may have been closed before this job could be woken. */
  private async isEnding(leaseId: string): Promise<boolean> {
    const [state] = await this.leases.states([leaseId]);
    return state !== 'provisioning' && state !== 'running';
  }
}
