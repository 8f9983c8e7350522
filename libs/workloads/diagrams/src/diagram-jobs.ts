import { MooringError, parseOwner } from '#core';
import { Enqueuer, StoreUnavailableError } from '#nestjs';
import { Injectable } from '@nestjs/common';
import { diagramOwner, HEAVY_SLOT, isHeavy, render } from './diagram-kinds.js';
import { DiagramsOptions } from './diagrams-options.js';
import { DiagramRepository, type Asker, type Claim } from './diagram-repository.js';
import type { RenderRequest } from './render/types.js';

/**
 * Enqueues the job of a diagram. If the process dies before the job is recorded, the job records itself when
 * it starts.
 */
@Injectable()
export class DiagramJobs {
  constructor(
    private readonly options: DiagramsOptions,
    private readonly diagrams: DiagramRepository,
    private readonly enqueuer: Enqueuer,
  ) {}

  /** @throws QueueFullError */
  checkRoom(): Promise<void> {
    return this.enqueuer.checkRoom(render);
  }

  /**
   * The job belongs to the diagram and to the requesting owner, so that cancelling the owner removes it at once.
   * If the queue refuses the job, the claim is given back, and the diagram loses `newcomer`. After a store error it
   * is unknown whether the job exists; the claim expires by itself.
   */
  async enqueue(claim: Claim, request: RenderRequest, by: string, newcomer?: Asker): Promise<void> {
    const { type, output, source } = request;
    const owners = [diagramOwner(claim.id), ...(by === '' ? [] : [parseOwner(by)])];
    const slot = isHeavy(type) ? { key: HEAVY_SLOT, limit: this.options.heavySlots } : undefined;
    try {
      const ticket = await this.enqueuer.enqueue(render, { type, output, source }, { owners, slot });
      await this.diagrams.noted(claim, ticket.id, by);
    } catch (error) {
      if (isRefusal(error)) await this.diagrams.refused(claim, newcomer);
      throw error;
    }
  }
}

export function isRefusal(error: unknown): boolean {
  return error instanceof MooringError && !(error instanceof StoreUnavailableError);
}
