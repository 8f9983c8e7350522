import { parseOwner, type Owner } from '#core';
import { Injectable } from '@nestjs/common';
import { MOST_OWNERS_AT_ONCE, OwnerLives } from './owner-lives.js';
import type { OwnerLife } from './owner-resolver.js';
import type { Lives } from './resolver-answer.js';

interface Batch {
  readonly ids: Set<string>;
  readonly answer: Promise<Lives>;
}

/** Asks, before a job starts, whether its owners are alive. Jobs that start in the same turn of the event loop share a batch. */
@Injectable()
export class OwnerCheck {
  private readonly batches = new Map<string, Batch>();

  constructor(private readonly lives: OwnerLives) {}

  /** `gone` if one of them is gone, else `unknown` if one is unknown. An owner of a type without a resolver counts as alive. */
  async ask(owners: readonly (Owner | string)[]): Promise<OwnerLife> {
    const lives = await Promise.all(owners.map((each) => this.askOne(parseOwner(each))));
    return lives.includes('gone') ? 'gone' : lives.includes('unknown') ? 'unknown' : 'alive';
  }

  private async askOne({ type, id }: Owner): Promise<OwnerLife> {
    if (!this.lives.types().includes(type)) return 'alive';
    let batch = this.batches.get(type);
    if (!batch || batch.ids.size >= MOST_OWNERS_AT_ONCE) batch = this.begin(type);
    batch.ids.add(id);
    return (await batch.answer).lives.get(id) ?? 'unknown';
  }

  private begin(type: string): Batch {
    const ids = new Set<string>();
    const answer = new Promise<Lives>((resolve) => {
      setImmediate(() => {
        if (this.batches.get(type)?.ids === ids) this.batches.delete(type);
        resolve(this.lives.ask(type, [...ids]));
      });
    });
    const batch = { ids, answer };
    this.batches.set(type, batch);
    return batch;
  }
}
