import { nearestName } from '#nearest-name';
import { KindRegistry } from '#nestjs';
import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { ApiKeys } from './api-key.guard.js';

const MOST_LETTERS_WRONG = 3;

/** Warns of limits that name a kind or a queue which this API does not know: such a key is refused everything of it. */
@Injectable()
export class KeyNames implements OnApplicationBootstrap {
  private readonly logger = new Logger('Keys');

  constructor(
    private readonly keys: ApiKeys,
    private readonly kinds: KindRegistry,
  ) {}

  onApplicationBootstrap(): void {
    const [kinds, queues] = [
      this.kinds.all().map(({ name }) => name),
      this.kinds.all().map(({ queue }) => queue),
    ];
    for (const { name, limits } of this.keys.known ?? []) {
      this.warn(name, 'kind', limits?.kinds ?? [], kinds);
      this.warn(name, 'queue', limits?.queues ?? [], queues);
    }
  }

  private warn(key: string, what: string, named: readonly string[], known: readonly string[]): void {
    for (const name of named.filter((each) => !known.includes(each))) {
      const near = nearestName(name, known, MOST_LETTERS_WRONG);
      const next = near === undefined ? '' : ` Did you mean ${near}?`;
      this.logger.warn(`The key "${key}" is limited to the ${what} "${name}", which is unknown here.${next}`);
    }
  }
}
