import type { Canaries, OwnerLife } from './owner-resolver.js';

const WORDS: ReadonlySet<unknown> = new Set<OwnerLife>(['alive', 'gone', 'unknown']);

/** The lives of the owners that were asked about. */
export interface Lives {
  readonly lives: ReadonlyMap<string, OwnerLife>;
  /** Why some or all of them are unknown. No owner is gone then. */
  readonly failed?: string;
}

/**
 * Reads a resolver's answer. One invalid entry makes the whole answer invalid: the resolver may have read the wrong place. If an id is
 * missing, no owner is gone, because the answer may have been cut short; owners that it calls alive are alive.
 */
export function readAnswer(answer: unknown, asked: ReadonlySet<string>, canaries?: Canaries): Lives {
  if (!(answer instanceof Map)) throw new Error('The resolver did not answer with a Map.');
  const lives = answer as ReadonlyMap<unknown, unknown>;
  for (const [id, life] of lives) {
    if (!asked.has(id as string) && id !== canaries?.alive && id !== canaries?.gone)
      throw new Error(`The resolver answered for ${show(id)}, which was not asked.`);
    if (!WORDS.has(life))
      throw new Error(`The resolver said ${show(life)} of ${show(id)}; it may say alive, gone or unknown.`);
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

function checkCanary(lives: ReadonlyMap<unknown, unknown>, id: string | undefined, life: OwnerLife): void {
  if (id === undefined || lives.get(id) === life) return;
  throw new Error(`The resolver's canary ${show(id)} is ${life}, and it said ${show(lives.get(id))}.`);
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
