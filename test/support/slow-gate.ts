import type { Redis } from 'ioredis';
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { scriptText } from './script-text.js';

const EPOCH_CHECK = 'if current ~= epoch then';

/**
 * Holds what one client asks of the gate up for a while, as a process does that was paused between taking a job and
 * beginning it. Without its epoch check the gate lets in what was cancelled meanwhile.
 */
export function slowGate(redis: Redis, pauseMs: () => number, hasEpochCheck = true): void {
  const text = scriptText('gate/begin');
  if (text.split(EPOCH_CHECK).length !== 2) throw new Error('The gate compares epochs in other words.');
  const asked = hasEpochCheck ? text : text.replace(EPOCH_CHECK, 'if false then');
  const [evalsha, evaluate] = [redis.evalsha.bind(redis), redis.eval.bind(redis)] as Ask[];
  const patched = redis as unknown as { evalsha: Ask; eval: Ask };
  patched.evalsha = async (sha, ...rest) => {
    if (sha !== shaOf(text)) return evalsha!(sha, ...rest);
    await pause(pauseMs());
    return evalsha!(shaOf(asked), ...rest);
  };
  patched.eval = (script, ...rest) => evaluate!(script === text ? asked : script, ...rest);
}

type Ask = (script: string, ...rest: unknown[]) => Promise<unknown>;

function shaOf(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}
