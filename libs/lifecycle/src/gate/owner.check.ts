import { Injectable } from '@nestjs/common';
import { parseOwner } from '../kinds/owner.js';
import { MOST_OWNERS_AT_ONCE, OwnerLives, type Lives } from '../resolvers/owner.lives.js';
import type { OwnerLife } from '../resolvers/owner.resolver.js';

interface Question {
  readonly ids: Set<string>;
  readonly answer: Promise<Lives>;
}

/** Asks whether the owners of jobs that start still live; jobs that start together are asked for together. */
@Injectable()
export class OwnerCheck {
  private readonly questions = new Map<string, Question>();

  constructor(private readonly lives: OwnerLives) {}

  /** Gone if one of them is gone; unknown if one of them is not known. */
  async ask(owners: readonly string[]): Promise<OwnerLife> {
    const lives = await Promise.all(owners.map((owner) => this.askOne(owner)));
    return lives.includes('gone') ? 'gone' : lives.includes('unknown') ? 'unknown' : 'alive';
  }

  private async askOne(text: string): Promise<OwnerLife> {
    const { type, id } = parseOwner(text);
    // Nobody to ask: nobody says that it is gone.
    if (!this.lives.types().includes(type)) return 'alive';
    let question = this.questions.get(type);
    if (!question || question.ids.size >= MOST_OWNERS_AT_ONCE) question = this.open(type);
    question.ids.add(id);
    return (await question.answer).lives.get(id) ?? 'unknown';
  }

  /** Whoever asks in the same turn of the event loop joins this question. */
  private open(type: string): Question {
    const ids = new Set<string>();
    const answer = new Promise<Lives>((resolve) => {
      setImmediate(() => {
        if (this.questions.get(type)?.ids === ids) this.questions.delete(type);
        resolve(this.lives.ask(type, [...ids]));
      });
    });
    const question = { ids, answer };
    this.questions.set(type, question);
    return question;
  }
}
