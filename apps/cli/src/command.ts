import type { Api } from './api.js';
import type { ParsedArgs, OptionSpecs } from './arguments.js';
import type { Output } from './output.js';

/** 0: success. 1: the API refused, or something failed. 2: wrong usage. 3: the API cannot be reached. */
export type ExitCode = 0 | 1 | 2 | 3;

export interface Tools {
  readonly api: Api;
  readonly out: Output;
  /** Reads a file, or standard input for `-`. */
  readonly readInput: (path: string) => Promise<string>;
}

export interface Command {
  readonly name: string;
  /** Command lines without the leading `mooring`. */
  readonly usage: readonly string[];
  /** A phrase in the imperative without a full stop, as in `show a job`. */
  readonly description: string;
  readonly options: OptionSpecs;
  /** Further text for the command's help. */
  readonly more?: string;
  readonly run: (parsed: ParsedArgs, tools: Tools) => Promise<ExitCode>;
}
