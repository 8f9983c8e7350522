import { Injectable } from '@nestjs/common';
import { Journal } from '../journal/journal.js';
import type { OwnerLife, OwnerResolver } from './owner-resolver.js';
import { readAnswer, type Lives } from './resolver-answer.js';
import { Resolvers } from './resolvers.js';

export const MOST_OWNERS_AT_ONCE = 500;
const ANSWER_MS = 2_000;

/** Asks resolvers. An owner is unknown unless a valid answer, in time, says otherwise. */
@Injectable()
export class OwnerLives {
  constructor(
    private readonly resolvers: Resolvers,
    private readonly journal: Journal,
  ) {}

  types(): readonly string[] {
    return this.resolvers.types();
  }

  /** Asks about one batch of at most 500 ids. Each of them is in the answer. Never rejects. */
  async ask(type: string, ids: readonly string[]): Promise<Lives> {
    const asked = new Set(ids);
    if (asked.size === 0) return { lives: new Map() };
    const answer = await this.answer(type, asked).catch((error: unknown) => ({
      lives: new Map([...asked].map((id): [string, OwnerLife] => [id, 'unknown'])),
      failed: sentence(error),
    }));
    if (answer.failed !== undefined)
      this.journal.trouble(`The resolver of "${type}"`, answer.failed, { resolver: type });
    return answer;
  }

  private async answer(type: string, asked: ReadonlySet<string>): Promise<Lives> {
    if (asked.size > MOST_OWNERS_AT_ONCE)
      throw new RangeError(`A resolver is asked about at most ${MOST_OWNERS_AT_ONCE} owners at once.`);
    const resolver = this.resolvers.get(type);
    if (!resolver) throw new Error(`No resolver is registered for owners of type "${type}".`);
    const { canaries } = resolver;
    const sent = canaries ? [...asked, canaries.alive, canaries.gone] : [...asked];
    return readAnswer(await inTime(type, resolver, [...new Set(sent)]), asked, canaries);
  }
}

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

function sentence(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.trim() || 'The resolver failed and did not say why.';
}
