import {
  formatOwner,
  LifecycleError,
  OwnerClosedError,
  OwnerReader,
  StoreUnavailableError,
  type Owner,
} from '#lifecycle';
import { Injectable } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { hasPicture, isUnderWay, type DiagramView } from './diagram.js';
import { DiagramJobs } from './diagram.jobs.js';
import { DiagramLooks, viewOf } from './diagram.looks.js';
import { idOf } from './diagrams.keys.js';
import { DiagramsRepository, NOBODY, type Asker } from './diagrams.repository.js';
import type { RenderRequest } from './render/types.js';
import { SourceCheck } from './source.check.js';

/** How long one who asks waits for another who is just enqueuing the same. */
const LOOKS = 60;
const LOOK_MS = 50;

/** Diagrams are asked for, and looked at. The same type, source and output is one diagram, with one job, whoever asks. */
@Injectable()
export class DiagramsService {
  constructor(
    private readonly diagrams: DiagramsRepository,
    private readonly jobs: DiagramJobs,
    private readonly looks: DiagramLooks,
    private readonly sources: SourceCheck,
    private readonly owners: OwnerReader,
  ) {}

  async idOf(request: RenderRequest): Promise<string> {
    return idOf(request, await this.sources.rendererOf(request.type));
  }

  /** It has a picture, or a job that draws it, when this answers; or its source is wrong, as far as that is known so soon. */
  async ask(request: RenderRequest, by?: Owner): Promise<DiagramView> {
    const id = await this.idOf(request);
    const [asker, known] = await Promise.all([this.askerOf(by), this.view(id)]);
    const isChecked = known !== undefined && (hasPicture(known) || isUnderWay(known));
    if (!isChecked) {
      // Else each of those who are refused anyway would have its source looked at first.
      await this.jobs.checkRoom();
      await this.sources.check(request);
    }
    return this.make(id, request, asker);
  }

  /** For who waits for the picture: its render tells him what is wrong, and a check would only make him wait longer. */
  async askUnchecked(request: RenderRequest): Promise<DiagramView> {
    return this.make(await this.idOf(request), request, NOBODY);
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

  /** One of those who ask enqueues it; the others wait until he has, so that what they are told is true. */
  private async make(id: string, request: RenderRequest, asker: Asker): Promise<DiagramView> {
    for (let looks = 0; looks < LOOKS; looks += 1) {
      const asked = await this.diagrams.ask(id, request, asker);
      const { view, isLeft } = asked.word === 'job' ? await this.looked(id) : {};
      if (view && hasPicture(view)) return view;
      if (view && isUnderWay(view) && !isLeft) {
        await this.diagrams.join(id, request.source);
        return this.named(view);
      }
      const turn = await this.turn(id, asked, view);
      if (turn !== undefined) {
        await this.enqueue(id, { turn, link: asked.link }, request, asker);
        const made = await this.diagrams.find(id);
        // As it is now; how it is doing is not asked so soon.
        if (made) return this.named(viewOf(made, { state: made.isOver ? 'cancelled' : 'pending' }));
      } else await pause(LOOK_MS);
    }
    throw new StoreUnavailableError(
      'Somebody else is just asking for this diagram, and has not done so yet.',
    );
  }

  /** Its id is a digest of what draws it as well: who asks here is told what that is before it is begun. */
  private async named(view: DiagramView): Promise<DiagramView> {
    return { ...view, renderer: view.renderer ?? (await this.sources.rendererOf(view.type)) };
  }

  private async turn(
    id: string,
    asked: Awaited<ReturnType<DiagramsRepository['ask']>>,
    view: DiagramView | undefined,
  ): Promise<string | undefined> {
    if (asked.word === 'ask') return asked.turn;
    return view && this.diagrams.claim(id, view.job ?? undefined);
  }

  /** Of a store that did not answer nobody knows whether there is a job; the turn ends by itself. */
  private async enqueue(
    id: string,
    { turn, link }: { readonly turn: string; readonly link: string },
    request: RenderRequest,
    asker: Asker,
  ): Promise<void> {
    try {
      await this.jobs.enqueue(id, turn, request, asker.owner);
    } catch (error) {
      if (error instanceof LifecycleError && !(error instanceof StoreUnavailableError))
        await this.diagrams.refused(id, turn, link, asker);
      throw error;
    }
  }

  /** Its epoch is read before it is written down: a cancel in between is seen. */
  private async askerOf(by: Owner | undefined): Promise<Asker> {
    if (!by) return NOBODY;
    const owner = formatOwner(by);
    const { epoch, state } = await this.owners.read(by);
    if (state === 'closed') throw new OwnerClosedError(owner);
    return { owner, epoch: epoch ?? '' };
  }
}
