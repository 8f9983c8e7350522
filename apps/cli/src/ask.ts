import type { Api } from './api.js';
import type { OptionSpecs, ParsedArgs } from './arguments.js';
import type { Command, Declared, ExitCode, Tools } from './command.js';
import type { Screen } from './output.js';
import { redraw } from './redraw.js';
import { NO_WORDS, type Words } from './words.js';

/** A command that makes a call and prints the answer. */
export interface Ask<T> extends Declared {
  readonly words?: Words;
  readonly call: (api: Api, words: readonly string[], parsed: ParsedArgs) => Promise<T>;
  readonly render: (answer: T, screen: Screen) => string;
  /** Accepts `--watch`. */
  readonly canWatch?: true;
}

export function ask<T>({ words = NO_WORDS, call, render, canWatch, ...declared }: Ask<T>): Command {
  return {
    ...declared,
    words,
    forms: [words.usage],
    options: { ...declared.options, ...(canWatch && WATCH) },
    run: async (parsed, tools) => {
      const read = words.read(parsed.words, declared.example);
      return present({ read: () => call(tools.api, read, parsed), render }, parsed, tools);
    },
  };
}

export const WATCH: OptionSpecs = {
  watch: { description: 'show it again whenever it changes; Ctrl-C quits' },
};

export interface Presented<T> {
  readonly read: () => Promise<T>;
  readonly render: (answer: T, screen: Screen) => string;
}

/** Prints an answer once; with `--watch` again and again. */
export async function present<T>(shown: Presented<T>, parsed: ParsedArgs, tools: Tools): Promise<ExitCode> {
  if (parsed.has('watch')) return redraw(shown, tools);
  tools.out.answer(await shown.read(), shown.render);
  return 0;
}
