import type { RunOptions } from '#core';
import type { Kind } from './kind.js';

const limits = new Map<string, { readonly runTimeoutMs: number; readonly stopGraceMs: number }>();

/** Kinds are constants of a program: their limits hold for all its applications. */
export function rememberLimits(kinds: readonly Kind[]): void {
  for (const { name, timeoutMs, graceMs } of kinds)
    limits.set(name, { runTimeoutMs: timeoutMs, stopGraceMs: graceMs });
}

/** The limits of a job, if it is of a kind. */
export const limitsOfKind: NonNullable<RunOptions['limitsOf']> = ({ name }) => limits.get(name);
