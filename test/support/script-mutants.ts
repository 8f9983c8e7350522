import type { LuaScripts } from '#workload-kit';
import { expect, it } from 'vitest';
import { isNight } from './night.js';

/** By day every eighth mutant is tried. */
const SAMPLE = 8;

/** Removes one guard of a file, or one write that belongs to its step. */
export type Mutant = readonly [file: string, from: string, to: string];

/** The text of a script with the mutant. Fails if the script has the file of the mutant but not the text it changes. */
export function scriptText(
  scripts: LuaScripts,
  name: string,
  [where, from = '', to = '']: Mutant | readonly [] = [],
): string {
  return scripts.text(name, (text, file) => {
    if (where !== file) return text;
    if (!text.includes(from)) throw new Error(`${file} does not hold ${from}`);
    return text.replace(from, () => to);
  });
}

/** @param live runs every situation once and returns all answers and states */
export function testScripts(mutants: readonly Mutant[], live: (mutant?: Mutant) => Promise<string[]>): void {
  const lived = async (mutant?: Mutant): Promise<string[]> => {
    try {
      return await live(mutant);
    } catch (error) {
      return [String(error)];
    }
  };

  it('give the recorded answers and writes', async () => {
    expect(await lived()).toMatchSnapshot();
  });

  const tried = isNight ? mutants : mutants.filter((_, at) => at % SAMPLE === 0);
  it.each(tried)('%s: the log changes when "%s" becomes "%s"', async (...mutant) => {
    const [whole, mutated] = [await lived(), await lived(mutant)];
    expect(mutated).not.toEqual(whole);
    expect(mutated.join('\n')).not.toMatch(/compiling|does not hold/);
  });
}
