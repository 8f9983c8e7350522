import type { RunOptions } from '#core';
import type { Kind } from './kind.js';

const KILLED_WITHIN_MS = 5_000;

const limits = new Map<string, { readonly runTimeoutMs: number; readonly stopGraceMs: number }>();

/** Kinds are constants of a program: their limits hold for all its applications. */
export function rememberLimits(kinds: readonly Kind[]): void {
  for (const { name, timeoutMs, graceMs, sandbox } of kinds) {
    // A sandbox is killed after its grace: its run ends when its process is gone, and is not given up before.
    const stopGraceMs = sandbox === undefined ? graceMs : graceMs + KILLED_WITHIN_MS;
    limits.set(name, { runTimeoutMs: timeoutMs, stopGraceMs });
  }
}

/** The limits of a job, if it is of a kind. */
export const limitsOfKind: NonNullable<RunOptions['limitsOf']> = ({ name }) => limits.get(name);
