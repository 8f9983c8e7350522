import type { LogLevel } from '@nestjs/common';
import { z } from 'zod';
import type { Kind, Payload } from '../kinds/kind.js';
import type { Owner } from '../kinds/owner.js';

/** What the file of a sandboxed kind exports, as its default or as `handle`. */
export type SandboxHandler<K extends Kind = Kind> = (
  payload: Payload<K>,
  run: SandboxRun,
) => Promise<unknown>;

/** What a handler in a sandbox is given beside its payload: as much of its run as crosses a process border. */
export interface SandboxRun extends RunFacts {
  /** Aborts when the run should stop; its `reason` has the reason's name and message. */
  readonly signal: AbortSignal;
  readonly log: Readonly<Record<LogLevel, (message: unknown, ...more: unknown[]) => void>>;
  /** Tells whoever reads the job how far it is: a number or any small JSON value. It never fails. */
  progress(value: number | string | object): Promise<void>;
}

export interface RunFacts {
  readonly id: string;
  readonly kind: string;
  readonly attempt: number;
  readonly owners: readonly Owner[];
  readonly fence: string;
}

export interface ErrorText {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
}

// A handler, or a library it uses, may send messages of its own; by `mooring` ours are known.

/** From the worker to the process of a run. */
export type WordToSandbox =
  | { readonly mooring: 'begin'; readonly payload: unknown; readonly run: RunFacts }
  | { readonly mooring: 'stop'; readonly reason: ErrorText };

/** From the process of a run to its worker; the last is one of the two answers. Values are JSON, as they will be stored. */
export type WordOfSandbox =
  | { readonly mooring: 'progress'; readonly value: string }
  | { readonly mooring: 'log'; readonly level: LogLevel; readonly said: readonly unknown[] }
  | Answer;

export type Answer =
  | { readonly mooring: 'done'; readonly result: string | undefined }
  | { readonly mooring: 'failed'; readonly error: ErrorText; readonly isFinal: boolean };

const WORD = z.discriminatedUnion('mooring', [
  z.object({ mooring: z.literal('progress'), value: z.string().refine(isJson) }),
  z.object({
    mooring: z.literal('log'),
    level: z.enum(['verbose', 'debug', 'log', 'warn', 'error', 'fatal']),
    said: z.array(z.unknown()),
  }),
  z.object({ mooring: z.literal('done'), result: z.string().optional() }),
  // An error of a handler's may have a name and a message of any type.
  z.object({ mooring: z.literal('failed'), error: z.looseObject({}), isFinal: z.boolean() }),
]);

/** What a sandbox said; nothing of what makes no sense, for the handler's code may say anything, ours by mistake too. */
export function readWord(said: unknown): WordOfSandbox | undefined {
  return WORD.safeParse(said).data as WordOfSandbox | undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
