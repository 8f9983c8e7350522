import { Injectable } from '@nestjs/common';
import { Journal } from '../journal.js';
import type { OwnerLife, OwnerResolver } from './owner.resolver.js';
import { Resolvers } from './resolvers.js';
import { readAnswer, type ReadAnswer } from './resolver.answer.js';

export const MOST_OWNERS_AT_ONCE = 500;
const ANSWER_MS = 2_000;

/** What became known of owners. Every id that was asked is in it. */
export interface Lives {
  readonly lives: ReadonlyMap<string, OwnerLife>;
  /** Why nothing of this batch became known, or not all: then nobody in it is gone. */
  readonly failed?: string;
}

/** Asks resolvers, and believes them only what they may be believed: an owner is unknown unless a sound answer says otherwise. */
@Injectable()
export class OwnerLives {
  constructor(
    private readonly resolvers: Resolvers,
    private readonly journal: Journal,
  ) {}

  types(): readonly string[] {
    return this.resolvers.types();
  }

  /** One batch, of at most 500 ids. It never throws. */
  async ask(type: string, ids: readonly string[]): Promise<Lives> {
    const asked = new Set(ids);
    if (asked.size === 0) return { lives: new Map() };
    try {
      const answer = await this.answer(type, asked);
      if (answer.failed !== undefined)
        this.journal.resolverFailed(type, asked.size, new Error(answer.failed));
      return answer;
    } catch (error) {
      this.journal.resolverFailed(type, asked.size, error);
      return { lives: allUnknown(asked), failed: sentence(error) };
    }
  }

  private async answer(type: string, asked: ReadonlySet<string>): Promise<ReadAnswer> {
    if (asked.size > MOST_OWNERS_AT_ONCE)
      throw new RangeError(
        `${asked.size} owners were asked for at once; at most ${MOST_OWNERS_AT_ONCE} may be.`,
      );
    const resolver = this.resolvers.get(type);
    if (!resolver) throw new Error(`Nobody resolves owners of type "${type}".`);
    const { canaries } = resolver;
    const sent = canaries ? [...asked, canaries.alive, canaries.gone] : [...asked];
    return readAnswer(await inTime(type, resolver, [...new Set(sent)]), asked, canaries);
  }
}

/** What answers too late has not answered; it is told so, and what it says then is not heard. */
async function inTime(type: string, resolver: OwnerResolver, ids: string[]): Promise<unknown> {
  const { timeoutMs = ANSWER_MS } = resolver;
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const late = new Error(`The resolver of "${type}" did not answer within ${timeoutMs} ms.`);
      reject(late);
      over.abort(late);
    }, timeoutMs);
  });
  try {
    return await Promise.race([resolver.resolve(ids, over.signal), limit]);
  } finally {
    clearTimeout(timer);
  }
}

function allUnknown(ids: Iterable<string>): Map<string, OwnerLife> {
  return new Map([...ids].map((id) => [id, 'unknown']));
}

function sentence(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.trim() || 'The resolver failed and did not say why.';
}
