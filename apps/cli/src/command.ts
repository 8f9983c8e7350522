import type { Api } from './api.js';
import type { Given, OptionSpecs } from './arguments.js';
import type { Output } from './output.js';

/** 0 all is well; 1 refused, or something failed; 2 wrong usage; 3 the api cannot be reached. */
export type ExitCode = 0 | 1 | 2 | 3;

export interface Tools {
  readonly api: Api;
  readonly out: Output;
  /** Text of a file; of what is piped in for `-`. */
  readonly readInput: (path: string) => Promise<string>;
}

/** One thing the tool can do: how it is called, and what it does. */
export interface Command {
  readonly name: string;
  /** Ways to call it, without the `mooring` in front. */
  readonly usage: readonly string[];
  readonly says: string;
  readonly options: OptionSpecs;
  /** Whatever else its help says. */
  readonly more?: string;
  readonly run: (given: Given, tools: Tools) => Promise<ExitCode>;
}
