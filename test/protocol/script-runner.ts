import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

export type ScriptName =
  | ('reserve' | 'depth' | 'begin' | 'renew' | 'take' | 'commit' | 'end')
  | ('cancel' | 'reopen' | 'drop' | 'along' | 'answered' | 'finish' | 'intent' | 'tell' | 'remember')
  | 'forget'
  | 'reap'
  | ('moor' | 'unmoor' | 'plan' | 'strike' | 'undone' | 'claim' | 'turn')
  | ('due' | 'expire' | 'mend');
export type Args = readonly (string | number)[];

/** Runs one of the scripts. The properties know the scripts by nothing else. */
export type ScriptRunner = (name: ScriptName, keys: readonly string[], args: Args) => Promise<unknown>;

/** A script with one of its guards taken out: `text`, which it has once, becomes `instead`. */
export interface Mutant {
  readonly name: string;
  readonly script: ScriptName;
  readonly text: string;
  readonly instead: string;
}

/** A store that takes every script it is given for the mutant's, and runs it mutated. */
export function storeWithMutant(redis: Redis, mutant: Mutant): Redis {
  let sha: string | undefined;
  const store = {
    evalsha: (_: string, ...rest: [number, ...string[]]) =>
      sha === undefined
        ? Promise.reject(new Error('NOSCRIPT the mutant was not loaded yet'))
        : redis.evalsha(sha, ...rest),
    eval: (text: string, ...rest: [number, ...string[]]) => {
      const mutated = mutate(text, mutant);
      sha = createHash('sha1').update(mutated).digest('hex');
      return redis.eval(mutated, ...rest);
    },
  };
  return store as unknown as Redis;
}

function mutate(script: string, { name, text, instead }: Mutant): string {
  const pieces = script.split(text);
  if (pieces.length !== 2) throw new Error(`"${name}": its text is ${pieces.length - 1} times in the script`);
  return pieces.join(instead);
}
