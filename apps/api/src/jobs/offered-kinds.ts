import { KindRegistry, UnknownKindError, type Kind } from '#lifecycle';
import { nearestName } from '#runtime/nearest-name';
import { Injectable } from '@nestjs/common';
import { ApiProblem } from '../problem.js';

const MOST_LETTERS_WRONG = 3;

/** The kinds that a caller may name. */
@Injectable()
export class OfferedKinds {
  constructor(private readonly kinds: KindRegistry) {}

  named(name: string): Kind {
    try {
      return this.kinds.offered(name);
    } catch (error) {
      if (!(error instanceof UnknownKindError)) throw error;
      throw new ApiProblem(404, error.code, `No kind is named ${JSON.stringify(name)}.${this.suggest(name)}`);
    }
  }

  private suggest(name: string): string {
    const offered = this.kinds.all().filter((kind) => kind.offered);
    const near = nearestName(
      name,
      offered.map((kind) => kind.name),
      MOST_LETTERS_WRONG,
    );
    return near === undefined ? '' : ` Did you mean ${near}?`;
  }
}
