import type { Canaries, OwnerLife } from './owner.resolver.js';

const WORDS: ReadonlySet<unknown> = new Set<OwnerLife>(['alive', 'gone', 'unknown']);

/** What a resolver's answer says of the ids that were asked. */
export interface ReadAnswer {
  readonly lives: ReadonlyMap<string, OwnerLife>;
  /** What is wrong with it, though some of it counts. */
  readonly failed?: string;
}

/**
 * The answer of a resolver for the ids that were asked. One thing in it that cannot be so, and nothing in it counts: whoever
 * answers for others may have been asked in the wrong place. One id left out, and nobody is gone: what was cut short may
 * have been wrong before it ended. Whom it calls alive lives all the same.
 */
export function readAnswer(answer: unknown, asked: ReadonlySet<string>, canaries?: Canaries): ReadAnswer {
  if (!(answer instanceof Map)) throw new Error('The resolver did not answer with a Map.');
  const lives = answer as ReadonlyMap<unknown, unknown>;
  for (const [id, life] of lives) {
    if (!asked.has(id as string) && id !== canaries?.alive && id !== canaries?.gone)
      throw new Error(`The resolver spoke of ${show(id)}, which was not asked.`);
    if (!WORDS.has(life))
      throw new Error(`The resolver said ${show(life)} of ${show(id)}; there are alive, gone and unknown.`);
  }
  checkCanary(lives, canaries?.alive, 'alive');
  checkCanary(lives, canaries?.gone, 'gone');

  const answered = [...asked].filter((id) => lives.has(id)).length;
  const isWhole = answered === asked.size;
  const read = (id: string): OwnerLife => {
    const life = (lives.get(id) as OwnerLife | undefined) ?? 'unknown';
    return life === 'gone' && !isWhole ? 'unknown' : life;
  };
  return {
    lives: new Map([...asked].map((id) => [id, read(id)])),
    ...(!isWhole && { failed: `The resolver answered for ${answered} of ${asked.size} owners.` }),
  };
}

function checkCanary(lives: ReadonlyMap<unknown, unknown>, id: string | undefined, is: OwnerLife): void {
  if (id === undefined || lives.get(id) === is) return;
  throw new Error(`The resolver's canary ${show(id)} is ${is}, and it said ${show(lives.get(id))}.`);
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
