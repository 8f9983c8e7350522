import { parseOwner } from '#core';
import { Enqueuer } from '#nestjs';
import { Injectable } from '@nestjs/common';
import { diagramOwner, HEAVY_SLOT, isHeavy, render } from './diagram-kinds.js';
import { DiagramsOptions } from './diagrams-options.js';
import { DiagramRepository } from './diagram-repository.js';
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
   * The job belongs to the diagram and to the requesting owner, so that cancelling the owner removes it at
   * once.
   */
  async enqueue(id: string, turn: string, request: RenderRequest, by: string): Promise<void> {
    const { type, output, source } = request;
    const owners = [diagramOwner(id), ...(by === '' ? [] : [parseOwner(by)])];
    const slot = isHeavy(type) ? { key: HEAVY_SLOT, limit: this.options.heavySlots } : undefined;
    const ticket = await this.enqueuer.enqueue(render, { type, output, source }, { owners, slot });
    await this.diagrams.noted(id, turn, ticket.id, by);
  }
}
