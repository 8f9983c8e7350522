import { Injectable, SetMetadata, type CustomDecorator } from '@nestjs/common';
import type { Kind, Payload } from '../kinds/kind.js';
import type { Run } from './run.js';

export const HANDLES = Symbol('mooring:handles');

/** The work of one kind. It knows its payload and its run, and nothing of BullMQ. */
@Injectable()
export abstract class Handler<K extends Kind = Kind> {
  /** For types only: a payload alone does not tell its kind. */
  declare readonly '~kind'?: K;

  /** Does the work and answers a result that JSON can write. To reject is a failed attempt. Watch `run.signal`. */
  abstract handle(payload: Payload<K>, run: Run): Promise<unknown>;
}

/** Says which kind a handler is for. */
export function Handles(kind: Kind): CustomDecorator<symbol> & ClassDecorator {
  return SetMetadata(HANDLES, kind) as CustomDecorator<symbol> & ClassDecorator;
}

/** The kind of a handler. */
export function kindOf<K extends Kind>(handler: Handler<K>): K {
  const kind = Reflect.getMetadata(HANDLES, handler.constructor) as K | undefined;
  if (kind) return kind;
  throw new TypeError(`${handler.constructor.name} has no kind. Put @Handles(kind) above its class.`);
}
