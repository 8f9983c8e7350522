import { Injectable } from '@nestjs/common';
import { UnknownKindError } from '../errors.js';
import type { Kind } from './kind.js';

/** The kinds that this process knows, by name. `MooringModule.forKinds` fills it. */
@Injectable()
export class KindRegistry {
  private readonly kinds = new Map<string, Kind>();

  add(kinds: readonly Kind[]): void {
    for (const kind of kinds) {
      const known = this.kinds.get(kind.name);
      if (known && known !== kind) {
        throw new TypeError(
          `Two kinds are named "${kind.name}" (queues "${known.queue}" and "${kind.queue}"). Rename one of them.`,
        );
      }
      this.kinds.set(kind.name, kind);
    }
  }

  /** @throws UnknownKindError */
  get(name: string): Kind {
    const kind = this.kinds.get(name);
    if (!kind) throw new UnknownKindError(name);
    return kind;
  }

  find(name: string): Kind | undefined {
    return this.kinds.get(name);
  }

  all(): Kind[] {
    return [...this.kinds.values()];
  }
}
