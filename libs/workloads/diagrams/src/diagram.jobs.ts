import { Enqueuer, parseOwner } from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { diagramOwner, HEAVY_SLOT, isHeavy, render } from './diagrams.kinds.js';
import { DiagramsOptions } from './diagrams.options.js';
import { DiagramsRepository } from './diagrams.repository.js';
import type { RenderRequest } from './render/types.js';

/** Gives a diagram its job. Should its process die before that is noted, the job notes it itself. */
@Injectable()
export class DiagramJobs {
  constructor(
    private readonly options: DiagramsOptions,
    private readonly diagrams: DiagramsRepository,
    private readonly enqueuer: Enqueuer,
  ) {}

  /** @throws QueueFullError */
  checkRoom(): Promise<void> {
    return this.enqueuer.checkRoom(render);
  }

  /** The job belongs to the diagram, and to the owner that asks: with him it goes, at once, wherever it is. */
  async enqueue(id: string, turn: string, request: RenderRequest, by: string): Promise<void> {
    const { type, output, source } = request;
    const owners = [diagramOwner(id), ...(by === '' ? [] : [parseOwner(by)])];
    const slot = isHeavy(type) ? { key: HEAVY_SLOT, limit: this.options.heavySlots } : undefined;
    const ticket = await this.enqueuer.enqueue(render, { type, output, source }, { owners, slot });
    await this.diagrams.noted(id, turn, ticket.id, by);
  }
}
