import { describe, expect, it } from 'vitest';
import { takeHelpersOut } from './helper-functions.js';
import { KNOWN_TEXTS } from './known-texts.js';
import { readBullScripts } from './texts.js';

const NOT_CODE = /--\[\[[^]*?\]\]|--.*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|(?<!\.)\.\w+/g;
const DECLARED = /\bfunction ?\w* ?\(([^)]*)\)|\blocal (?!function)([\w, ]+)|\bfor ([\w, ]+) (?:=|in)/g;

describe('the helper functions of the composed texts', () => {
  it.each(Object.keys(KNOWN_TEXTS).filter((name) => readBullScripts().has(name)))(
    'use no variable of a single call: %s',
    (name) => {
      const { helpers, main } = takeHelpersOut(readBullScripts().get(name)!.lua);
      const ofOneCall = new Set(['KEYS', 'ARGV', ...variablesOf(main)]);
      for (const helper of helpers.split(/^end$/m)) {
        expect(namesUsedIn(helper).filter((used) => ofOneCall.has(used))).toEqual([]);
      }
    },
  );

  it('are removed from the text, except those that use its variables', () => {
    const { helpers, main } = takeHelpersOut(readBullScripts().get('obliterate')!.lua);

    expect(main.match(/^local function \w+/gm)).toEqual(['local function removeLockKeys']);
    expect(helpers).toContain('local function removeJob');
  });
});

/** The functions that start at the left edge. */
function variablesOf(main: string): string[] {
  const lists = [...main.matchAll(/^local (?:function )?([\w, ]+)/gm)].map(([, list]) => list!);
  return lists.flatMap(namesIn).filter((name) => name !== 'rcall');
}

/** Without the variables that the function declares itself. */
function namesUsedIn(helper: string): string[] {
  const code = helper.replace(NOT_CODE, ' ');
  const own = new Set(
    [...code.matchAll(DECLARED)].flatMap(([, ...lists]) => namesIn(lists.find((list) => list) ?? '')),
  );
  return namesIn(code).filter((name) => !own.has(name));
}

function namesIn(text: string): string[] {
  return text.match(/[A-Za-z_]\w*/g) ?? [];
}
