import { nearestName } from '#nearest-name';
import { Injectable } from '@nestjs/common';
import { UnknownKindError } from '../errors.js';
import type { Kind } from './kind.js';

/** How many letters of a name may differ from that of the kind that is suggested. */
const MOST_LETTERS_WRONG = 3;

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

  /** For callers from outside. What is not offered is never suggested. @throws UnknownKindError */
  offered(name: string): Kind {
    const kind = this.kinds.get(name);
    if (kind?.offered) return kind;
    throw unknownAmong(
      name,
      this.all().filter((each) => each.offered),
    );
  }

  /** For operators, who may name every kind. @throws UnknownKindError */
  named(name: string): Kind {
    const kind = this.kinds.get(name);
    if (!kind) throw unknownAmong(name, this.all());
    return kind;
  }

  find(name: string): Kind | undefined {
    return this.kinds.get(name);
  }

  all(): Kind[] {
    return [...this.kinds.values()];
  }
}

function unknownAmong(name: string, kinds: readonly Kind[]): UnknownKindError {
  const names = kinds.map((kind) => kind.name);
  return new UnknownKindError(name, { near: nearestName(name, names, MOST_LETTERS_WRONG) });
}
