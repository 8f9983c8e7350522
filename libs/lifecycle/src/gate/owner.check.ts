import { Injectable, SetMetadata, type CustomDecorator, type Type } from '@nestjs/common';
import { DiscoveryService, Reflector } from '@nestjs/core';
import { Journal } from '../journal.js';
import { parseOwner } from '../kinds/owner.js';

export const RESOLVES_OWNERS = Symbol('mooring:resolves-owners');

export type OwnerLife = 'alive' | 'gone' | 'unknown';

/** Says of owners of one type whether they live. What it does not answer, or says wrongly, counts as unknown. */
export abstract class OwnerResolver {
  abstract resolve(ids: string[]): Promise<ReadonlyMap<string, OwnerLife>>;
}

/** Says which owner type a resolver is for. */
export function ResolvesOwners(type: string): CustomDecorator<symbol> & ClassDecorator {
  return SetMetadata(RESOLVES_OWNERS, type) as CustomDecorator<symbol> & ClassDecorator;
}

const ANSWER_MS = 2_000;
const MOST_AT_ONCE = 500;

interface Question {
  readonly ids: Set<string>;
  readonly answer: Promise<ReadonlyMap<string, OwnerLife>>;
}

/** Asks whether the owners of jobs that start still live; jobs that start together are asked for together. */
@Injectable()
export class OwnerCheck {
  private resolvers: Map<string, OwnerResolver> | undefined;
  private readonly questions = new Map<string, Question>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly reflector: Reflector,
    private readonly journal: Journal,
  ) {}

  /** Gone if one of them is gone; unknown if one of them is not known. */
  async ask(owners: readonly string[]): Promise<OwnerLife> {
    const lives = await Promise.all(owners.map((owner) => this.askOne(owner)));
    return lives.includes('gone') ? 'gone' : lives.includes('unknown') ? 'unknown' : 'alive';
  }

  private async askOne(text: string): Promise<OwnerLife> {
    const { type, id } = parseOwner(text);
    // Nobody to ask: nobody says that it is gone.
    if (!this.find().has(type)) return 'alive';
    let question = this.questions.get(type);
    if (!question || question.ids.size >= MOST_AT_ONCE) question = this.open(type);
    question.ids.add(id);
    const answer = (await question.answer).get(id);
    return answer === 'alive' || answer === 'gone' ? answer : 'unknown';
  }

  /** Whoever asks in the same turn of the event loop joins this question. */
  private open(type: string): Question {
    const ids = new Set<string>();
    const answer = new Promise<ReadonlyMap<string, OwnerLife>>((resolve) => {
      setImmediate(() => {
        if (this.questions.get(type)?.ids === ids) this.questions.delete(type);
        resolve(this.resolve(type, [...ids]));
      });
    });
    const question = { ids, answer };
    this.questions.set(type, question);
    return question;
  }

  /** A resolver that fails, or is slow, or answers nonsense, has not said that anybody is gone. */
  private async resolve(type: string, ids: string[]): Promise<ReadonlyMap<string, OwnerLife>> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`The resolver of "${type}" did not answer in time.`)),
        ANSWER_MS,
      );
    });
    try {
      const answer = await Promise.race([this.find().get(type)!.resolve(ids), limit]);
      return answer instanceof Map ? answer : new Map();
    } catch (error) {
      this.journal.resolverFailed(type, ids.length, error);
      return new Map();
    } finally {
      clearTimeout(timer);
    }
  }

  private find(): Map<string, OwnerResolver> {
    this.resolvers ??= new Map(
      this.discovery.getProviders().flatMap((wrapper) => {
        const metatype = wrapper.metatype as Type | null;
        const type = metatype && this.reflector.get<string | undefined>(RESOLVES_OWNERS, metatype);
        return type ? [[type, wrapper.instance as OwnerResolver] as const] : [];
      }),
    );
    return this.resolvers;
  }
}
