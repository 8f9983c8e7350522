import type { Canaries, OwnerLife } from './owner.resolver.js';

const WORDS: ReadonlySet<unknown> = new Set<OwnerLife>(['alive', 'gone', 'unknown']);

/**
 * The answer of a resolver for the ids that were asked; what it leaves out is unknown. One thing in it that cannot be so, and
 * nothing in it counts: whoever answers for others, or for few, may have been asked in the wrong place.
 */
export function readAnswer(
  answer: unknown,
  asked: ReadonlySet<string>,
  canaries?: Canaries,
): ReadonlyMap<string, OwnerLife> {
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
  if (answered * 2 < asked.size)
    throw new Error(`The resolver answered for ${answered} of ${asked.size} owners, less than half.`);
  return new Map([...asked].map((id) => [id, (lives.get(id) as OwnerLife | undefined) ?? 'unknown']));
}

function checkCanary(lives: ReadonlyMap<unknown, unknown>, id: string | undefined, is: OwnerLife): void {
  if (id === undefined || lives.get(id) === is) return;
  throw new Error(`The resolver's canary ${show(id)} is ${is}, and it said ${show(lives.get(id))}.`);
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
