import { formatOwner, OwnerClosedError, Owners, type Owner } from '#core';
import { StoreUnavailableError } from '#nestjs';
import { Injectable } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { hasPicture, isUnderWay, type DiagramView } from './diagram.js';
import { DiagramJobs } from './diagram-jobs.js';
import { DiagramStatus, viewOf } from './diagram-status.js';
import { idOf } from './diagram-keys.js';
import { DiagramRepository, epochAt, NO_OWNER, type Asker } from './diagram-repository.js';
import { Renderers } from './render/renderers.js';
import type { RenderRequest } from './render/types.js';
import { SourceCheck } from './source-check.js';

/** Limit on reads while another process enqueues the same diagram. */
const LOOKS = 60;
const LOOK_MS = 50;

/**
 * Requests and reads diagrams. Equal type, source and output give one diagram with one job, for all callers.
 */
@Injectable()
export class DiagramsService {
  constructor(
    private readonly diagrams: DiagramRepository,
    private readonly jobs: DiagramJobs,
    private readonly looks: DiagramStatus,
    private readonly sources: SourceCheck,
    private readonly renderers: Renderers,
    private readonly owners: Owners,
  ) {}

  async idOf(request: RenderRequest): Promise<string> {
    return idOf(request, await this.renderers.rendererOf(request.type));
  }

  /** When this returns, the diagram has a picture or a job, or the source is known to be invalid. */
  async ask(request: RenderRequest, by?: Owner): Promise<DiagramView> {
    const id = await this.idOf(request);
    const [asker, known] = await Promise.all([this.askerOf(by), this.view(id)]);
    const isChecked = known !== undefined && (hasPicture(known) || isUnderWay(known));
    if (!isChecked) {
      // Checked first, so that callers who will be refused anyway do not occupy the source check.
      await this.jobs.checkRoom();
      await this.sources.check(request);
    }
    return this.make(id, request, asker);
  }

  /**
   * For callers that wait for the picture: the render reports errors, and a check would only add to the wait.
   */
  async askUnchecked(request: RenderRequest): Promise<DiagramView> {
    return this.make(await this.idOf(request), request, NO_OWNER);
  }

  async view(id: string): Promise<DiagramView | undefined> {
    return (await this.looked(id)).view;
  }

  async viewOfLink(link: string): Promise<DiagramView | undefined> {
    const id = await this.diagrams.idOfLink(link);
    return id === undefined ? undefined : this.view(id);
  }

  private async looked(id: string): Promise<{ view?: DiagramView; isLeft?: boolean }> {
    const diagram = await this.diagrams.find(id);
    if (!diagram) return {};
    const look = await this.looks.look(diagram);
    return { view: viewOf(diagram, look), isLeft: look.isLeft === true };
  }

  /** One caller enqueues the job; the others wait for it, so that every answer is true. */
  private async make(id: string, request: RenderRequest, asker: Asker): Promise<DiagramView> {
    for (let looks = 0; looks < LOOKS; looks += 1) {
      const asked = await this.diagrams.ask(id, request, asker);
      const { view, isLeft } = asked.word === 'job' ? await this.looked(id) : {};
      if (view && hasPicture(view)) return view;
      if (view && isUnderWay(view) && !isLeft) {
        await this.diagrams.join(id, request.source);
        return this.named(view);
      }
      const turn =
        asked.word === 'ask' ? asked.turn : view && (await this.diagrams.claim(id, view.job ?? undefined));
      if (turn !== undefined) {
        await this.jobs.enqueue({ id, turn, link: asked.link }, request, asker.owner, asker);
        const made = await this.diagrams.find(id);
        // The status is not read so soon after the request.
        if (made) return this.named(viewOf(made, { state: made.isOver ? 'cancelled' : 'pending' }));
      } else await pause(LOOK_MS);
    }
    throw new StoreUnavailableError(
      'Somebody else is just asking for this diagram, and has not done so yet.',
    );
  }

  /** The id includes the renderer, so the renderer is known before the job starts. */
  private async named(view: DiagramView): Promise<DiagramView> {
    return { ...view, renderer: view.renderer ?? (await this.renderers.rendererOf(view.type)) };
  }

  /** The epoch is read before the request is stored, so that a cancel in between is detected. */
  private async askerOf(by: Owner | undefined): Promise<Asker> {
    if (!by) return NO_OWNER;
    const owner = formatOwner(by);
    const nowMs = await this.diagrams.now();
    const known = await this.owners.get(by, { limit: 0 });
    if (known?.state === 'closed') throw new OwnerClosedError(owner);
    return { owner, epoch: known?.epoch ?? epochAt(nowMs) };
  }
}
