import type { Api } from './api.js';
import type { ParsedArgs, OptionSpecs } from './arguments.js';
import type { Output } from './output.js';
import type { Words } from './words.js';

/** 0: success. 1: the API refused, or something failed. 2: wrong usage. 3: the API cannot be reached. */
export type ExitCode = 0 | 1 | 2 | 3;

export interface Tools {
  readonly api: Api;
  readonly out: Output;
  /** Reads a file, or standard input for `-`. */
  readonly readInput: (path: string) => Promise<string>;
}

export interface Command {
  /** One or two words, as in `jobs show`. */
  readonly name: string;
  /** A shorter name. */
  readonly alias?: string;
  /** The positional arguments, for completion; a command without them reads its own. */
  readonly words?: Words;
  /** What follows the name, one entry per form. */
  readonly forms: readonly string[];
  /** A phrase in the imperative without a full stop, as in `show a job`. */
  readonly description: string;
  /** A command line without the leading `mooring`. */
  readonly example: string;
  readonly options?: OptionSpecs;
  /** Further text for the command's help. */
  readonly more?: string;
  readonly run: (parsed: ParsedArgs, tools: Tools) => Promise<ExitCode>;
}

/** What every declaration of a command has; `ask` and `list` add the rest. */
export type Declared = Pick<Command, 'name' | 'alias' | 'description' | 'example' | 'options' | 'more'>;
