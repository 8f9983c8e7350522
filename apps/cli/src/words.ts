import { ownerOfWords } from './owner-name.js';
import { didYouMean, WrongUsage } from './problems.js';

/** The positional arguments of a command. */
export interface Words {
  /** As in `<jobId>`. */
  readonly usage: string;
  /** The only words that are allowed, if they are known. */
  readonly of?: readonly string[];
  /** Throws `WrongUsage`; `example` is a right command line. */
  readonly read: (given: readonly string[], example: string) => readonly string[];
}

/** One word for each name, as in `named('jobId')`. */
export function named(...names: readonly string[]): Words {
  return {
    usage: names.map((name) => `<${name}>`).join(' '),
    read: (given, example) => {
      const [missing, tooMuch] = [names[given.length], given.slice(names.length)];
      if (tooMuch.length > 0)
        throw new WrongUsage(`"${tooMuch.join(' ')}" is too much. As in: mooring ${example}`);
      if (missing !== undefined || given.includes(''))
        throw new WrongUsage(`Name the ${missing ?? names[given.indexOf('')]}, as in: mooring ${example}`);
      return given;
    },
  };
}

/** One word or more, as in `several('queue')`. */
export function several(name: string): Words {
  return {
    usage: `<${name}>…`,
    read: (given, example) => [...named(name).read(given.slice(0, 1), example), ...given.slice(1)],
  };
}

export const NO_WORDS = named();

/** One of the given words. */
export function oneOf(what: string, of: readonly string[]): Words {
  const usage = `<${of.join('|')}>`;
  return { usage, of, read: (given, example) => [choice(named(what).read(given, example)[0]!, what, of)] };
}

/** An owner, as `trip 42` or `trip:42`. Reads its type and its id. */
export const OWNER: Words = {
  usage: '<type> <id>',
  read: (given) => {
    const { type, id } = ownerOfWords(given);
    return [type, id];
  },
};

/** Checks a word that must be one of a few; suggests the nearest. */
export function choice(word: string, what: string, of: readonly string[]): string {
  if (of.includes(word)) return word;
  const article = /^[aeiou]/.test(what) ? 'an' : 'a';
  throw new WrongUsage(`Name ${article} ${what}: ${of.join(', ')}; got "${word}".${didYouMean(word, of)}`);
}
