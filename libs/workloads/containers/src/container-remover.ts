import { Journal } from '#nestjs';
import { Injectable } from '@nestjs/common';
import { leaseFact } from './lease-kinds.js';
import { ContainerEngine, type Container } from './engines/container-engine.js';
import { FleetSignature } from './fleet-signature.js';
import type { Made } from './lease.js';

export interface CleanupStep {
  readonly leaseId: string;
  readonly containerId: string;
  readonly attempt: number;
}

/** Stops and removes containers, with a log line for each step, and identifies the container of a lease. */
@Injectable()
export class ContainerRemover {
  constructor(
    private readonly engine: ContainerEngine,
    private readonly signature: FleetSignature,
    private readonly journal: Journal,
  ) {}

  /**
   * Finds a lease's container: the recorded one, or one of its name if none is recorded or one may still
   * appear. A container that another program created under that id or name is left alone.
   */
  async find(
    leaseId: string,
    made: Made | undefined,
    signal: AbortSignal,
    mayCome = false,
  ): Promise<Container | undefined> {
    const recorded = made && (await this.recorded(leaseId, made, signal));
    if (recorded || (made && !mayCome)) return recorded;
    const named = await this.engine.named(this.signature.nameOf(leaseId), signal);
    return named && (await this.isOf(leaseId, named)) ? named : undefined;
  }

  /** A missing or foreign signature does not prove that the recorded container is gone. */
  private async recorded(
    leaseId: string,
    { id, createdAt }: Made,
    signal: AbortSignal,
  ): Promise<Container | undefined> {
    const found = await this.engine.find(id, signal);
    if (found?.createdAt !== createdAt) return undefined;
    if (await this.isOf(leaseId, found)) return found;
    throw new Error(`Container ${id} is there, and is not signed by this secret: was LEASE_SECRET changed?`);
  }

  async isOf(leaseId: string, container: Container): Promise<boolean> {
    return (await this.signature.leaseOf(container)) === leaseId;
  }

  async remove(
    { id: containerId }: Container,
    leaseId: string,
    attempt: number,
    signal: AbortSignal,
  ): Promise<void> {
    const step = { leaseId, containerId, attempt };
    await this.act(step, 'stop', () => this.engine.stop(containerId, signal));
    await this.act(step, 'remove', () => this.engine.remove(containerId, signal));
  }

  async act<T>(step: CleanupStep, action: string, work: () => Promise<T>): Promise<T> {
    const beganAt = performance.now();
    try {
      const result = await work();
      this.say(step, action, 'done', beganAt);
      return result;
    } catch (error) {
      this.say(step, action, 'failed', beganAt, (error as Error).message);
      throw error;
    }
  }

  say(
    { leaseId, containerId, attempt }: CleanupStep,
    action: string,
    status: 'done' | 'failed',
    beganAt: number,
    why?: string,
  ): void {
    const durationMs = Math.round(performance.now() - beganAt);
    const facts = { containerId, action, attempt, durationMs, ...(why !== undefined && { why }) };
    this.journal.tell(leaseFact('lease.cleanup', leaseId, status, facts));
  }
}
