import { Injectable } from '@nestjs/common';
import type { Handler } from './handler.js';

/** Which handler does which kind. It is complete before a worker takes jobs. */
@Injectable()
export class HandlerRegistry {
  handlers: ReadonlyMap<string, Handler> = new Map();

  get(kind: string): Handler | undefined {
    return this.handlers.get(kind);
  }
}
