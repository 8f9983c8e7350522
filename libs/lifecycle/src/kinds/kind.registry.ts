import { nearestName } from '#nearest-name';
import { Injectable } from '@nestjs/common';
import { UnknownKindError } from '../errors.js';
import type { Kind } from './kind.js';

/** How many letters of a name may differ from that of the kind it is taken for. */
const MOST_LETTERS_WRONG = 3;

/** Every kind this process knows, by name. Filled by `LifecycleModule.forKinds`. */
@Injectable()
export class KindRegistry {
  private readonly kinds = new Map<string, Kind>();

  add(kinds: readonly Kind[]): void {
    for (const kind of kinds) {
      const known = this.kinds.get(kind.name);
      if (known && known !== kind) {
        throw new TypeError(
          `Two kinds are named "${kind.name}" (queues "${known.queue}" and "${kind.queue}"). Give one of them another name.`,
        );
      }
      this.kinds.set(kind.name, kind);
    }
  }

  get(name: string): Kind {
    const kind = this.kinds.get(name);
    if (!kind) throw new UnknownKindError(name);
    return kind;
  }

  /** For a caller who names it: one that is not offered is as good as none, and is never suggested. */
  offered(name: string): Kind {
    const kind = this.kinds.get(name);
    if (!kind?.offered) throw new UnknownKindError(name, this.suggest(name));
    return kind;
  }

  has(name: string): boolean {
    return this.kinds.has(name);
  }

  all(): Kind[] {
    return [...this.kinds.values()];
  }

  private suggest(name: string): string {
    const offered = this.all().filter((kind) => kind.offered);
    const names = offered.map((kind) => kind.name);
    const near = nearestName(name, names, MOST_LETTERS_WRONG);
    return near === undefined ? '' : `Did you mean ${near}?`;
  }
}
