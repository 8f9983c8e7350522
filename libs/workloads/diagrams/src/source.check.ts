import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InvalidDiagramError } from './diagrams.errors.js';
import { DiagramInvalid } from './render/errors.js';
import { Renderers } from './render/renderers.js';
import type { DiagramType, RenderRequest } from './render/types.js';

/** Whoever asks is told within so long what is wrong; else when it is drawn. */
const CHECK_MS = 1_500;

/** Checks a source before anything is written, where that can be done. One that cannot be checked now is taken as it is. */
@Injectable()
export class SourceCheck implements OnApplicationShutdown {
  constructor(private readonly renderers: Renderers) {}

  rendererOf(type: DiagramType): Promise<string> {
    return this.renderers.rendererOf(type);
  }

  async check({ type, source }: RenderRequest): Promise<void> {
    try {
      await this.renderers.check(type, source, AbortSignal.timeout(CHECK_MS));
    } catch (error) {
      if (error instanceof DiagramInvalid) throw new InvalidDiagramError(flawOf(error));
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.renderers.close();
  }
}

export function flawOf({ message, line, column }: DiagramInvalid): {
  message: string;
  line?: number;
  column?: number;
} {
  return { message, ...(line !== undefined && { line }), ...(column !== undefined && { column }) };
}
