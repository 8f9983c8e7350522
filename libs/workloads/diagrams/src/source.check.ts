import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Flaw } from './diagram.js';
import { InvalidDiagramError } from './diagrams.errors.js';
import { DiagramInvalid } from './render/errors.js';
import { Renderers } from './render/renderers.js';
import type { DiagramType, RenderRequest } from './render/types.js';

/** Whoever asks is told within so long what is wrong; else when it is drawn. */
const CHECK_MS = 1_000;
/** The same with what looks at it: that may have to start first. */
const COLD_MS = 5_000;
const MOST_SAID = 1_000;

/** Checks a source before anything is written, where that can be done. One that cannot be checked now is taken as it is. */
@Injectable()
export class SourceCheck implements OnApplicationShutdown {
  private readonly closing = new AbortController();

  constructor(private readonly renderers: Renderers) {
    // Each check that is under way listens.
    setMaxListeners(0, this.closing.signal);
  }

  rendererOf(type: DiagramType): Promise<string> {
    return this.renderers.rendererOf(type);
  }

  async check(request: RenderRequest): Promise<void> {
    const enough = new AbortController();
    const within = (ms: number): Promise<undefined> =>
      pause(ms, undefined, { signal: enough.signal, ref: false }).catch(() => undefined);
    const isReady = await this.renderers.canCheck(request.type);
    // It goes on when nobody waits for it any more: its process is just starting, and the next source finds it ready.
    const flaw = await new Promise<Flaw | undefined>((resolve) => {
      void within(isReady ? CHECK_MS : COLD_MS).then(resolve);
      void this.flawOf(request, () => void within(CHECK_MS).then(resolve)).then(resolve);
    });
    enough.abort();
    if (flaw) throw new InvalidDiagramError(flaw);
  }

  async onApplicationShutdown(): Promise<void> {
    this.closing.abort();
    await this.renderers.close();
  }

  /** Never rejects: of whatever else goes wrong nobody can say that it is the source's fault. */
  private async flawOf({ type, source }: RenderRequest, begun: () => void): Promise<Flaw | undefined> {
    try {
      await this.renderers.check(type, source, this.closing.signal, begun);
    } catch (error) {
      if (error instanceof DiagramInvalid) return flawIn(error);
    }
    return undefined;
  }
}

/** A renderer may repeat the whole source. */
export function short(message: string): string {
  return message.length > MOST_SAID ? `${message.slice(0, MOST_SAID)}…` : message;
}

export function flawIn({ message, line, column }: DiagramInvalid): Flaw {
  return {
    message: short(message),
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
  };
}
