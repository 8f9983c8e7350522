import { formatOwner } from '#core';
import { FailedForGood, Handler, Handles, SnoozeJob, type Payload, type Run } from '#nestjs';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { flawIn, pictureName, type Flaw } from './diagram.js';
import { OWNER_TYPE, render } from './diagram-kinds.js';
import { DiagramRepository } from './diagram-repository.js';
import { DiagramInvalid, RendererBusy, RenderLimit } from './render/errors.js';
import { Renderers } from './render/renderers.js';
import type { Rendered } from './render/types.js';

/** Delay of a job whose renderer is busy. */
const BUSY_MS = 250;

/** Draws the diagram that is the job's primary owner; the picture becomes an artifact of the run. */
@Injectable()
@Handles(render)
export class RenderHandler extends Handler<typeof render> implements OnApplicationShutdown {
  constructor(
    private readonly diagrams: DiagramRepository,
    private readonly renderers: Renderers,
  ) {
    super();
  }

  async handle(payload: Payload<typeof render>, run: Run): Promise<object> {
    const [primary, other] = run.owners;
    if (primary?.type !== OWNER_TYPE) throw new FailedForGood('Its primary owner is not a diagram.');
    const drawer = await this.renderers.rendererOf(payload.type);
    const by = other ? formatOwner(other) : '';
    const word = await this.diagrams.begin(primary.id, run.id, by, drawer);
    if (word !== 'ok')
      return { drawn: false, why: word === 'gone' ? 'it is no longer requested' : 'another job does' };

    const { bytes, contentType, renderer, warnings } = await this.draw(primary.id, payload, run);
    // Recorded before the picture counts, so that every reader of the picture also sees its warnings.
    if (warnings.length > 0) await this.diagrams.recordWarnings(primary.id, run.id, warnings);
    await run.artifacts.put(pictureName(payload.output), bytes, { contentType });
    return { renderer, contentType, bytes: bytes.length, warnings };
  }

  /** Runs after the jobs have ended. */
  async onApplicationShutdown(): Promise<void> {
    await this.renderers.close();
  }

  private async draw(id: string, payload: Payload<typeof render>, run: Run): Promise<Rendered> {
    try {
      return await this.renderers.render(payload, run.signal);
    } catch (error) {
      if (error instanceof RendererBusy) throw new SnoozeJob('its renderer has enough to do', BUSY_MS);
      const flaw = lastingFlaw(error);
      if (!flaw || run.signal.aborted) throw error;
      await this.diagrams.recordFlaw(id, run.id, flaw);
      throw new FailedForGood(flaw.message);
    }
  }
}

/**
 * Errors that a retry would repeat. A dead renderer process is not one: it may have been killed from outside.
 */
function lastingFlaw(error: unknown): Flaw | undefined {
  if (error instanceof DiagramInvalid) return flawIn(error);
  if (error instanceof RenderLimit && error.limit !== 'process') return { message: error.message };
  return undefined;
}
