import { Injectable } from '@nestjs/common';
import type { Handler } from './handler.js';

type Handlers = ReadonlyMap<string, Handler>;

/** Which handler does which kind. A worker may have its first job before the application has started: it waits for the handlers. */
@Injectable()
export class HandlerRegistry {
  complete!: (handlers: Handlers) => void;
  private readonly handlers = new Promise<Handlers>((resolve) => (this.complete = resolve));

  async get(kind: string): Promise<Handler | undefined> {
    return (await this.handlers).get(kind);
  }
}
