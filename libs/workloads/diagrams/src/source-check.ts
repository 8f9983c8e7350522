import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { flawIn, type Flaw } from './diagram.js';
import { isInvalid } from './http/problems.js';
import { DiagramInvalid } from './render/errors.js';
import { Renderers } from './render/renderers.js';
import type { RenderRequest } from './render/types.js';

/** Time limit of the check. After it, errors are reported by the render. */
const CHECK_MS = 1_000;
/** Time limit including the start of the renderer. */
const COLD_MS = 5_000;

/**
 * Checks a source before anything is written, where possible. A source that cannot be checked now is
 * accepted.
 */
@Injectable()
export class SourceCheck implements OnApplicationShutdown {
  private readonly closing = new AbortController();

  constructor(private readonly renderers: Renderers) {
    // Every check in progress listens to the signal.
    setMaxListeners(0, this.closing.signal);
  }

  async check(request: RenderRequest): Promise<void> {
    const enough = new AbortController();
    const within = (ms: number): Promise<undefined> =>
      pause(ms, undefined, { signal: enough.signal, ref: false }).catch(() => undefined);
    const isReady = await this.renderers.canCheck(request.type);
    // Continues after the caller has stopped waiting, so that the renderer is ready for the next source.
    const flaw = await new Promise<Flaw | undefined>((resolve) => {
      void within(isReady ? CHECK_MS : COLD_MS).then(resolve);
      void this.flawOf(request, () => void within(CHECK_MS).then(resolve)).then(resolve);
    });
    enough.abort();
    if (flaw) throw isInvalid(flaw);
  }

  async onApplicationShutdown(): Promise<void> {
    this.closing.abort();
    await this.renderers.close();
  }

  /** Never rejects: any other failure does not prove that the source is invalid. */
  private async flawOf({ type, source }: RenderRequest, begun: () => void): Promise<Flaw | undefined> {
    try {
      await this.renderers.check(type, source, this.closing.signal, begun);
    } catch (error) {
      if (error instanceof DiagramInvalid) return flawIn(error);
    }
    return undefined;
  }
}
