import type { Redis } from 'ioredis';
import { createHash } from 'node:crypto';

/** Makes a client answer like a server before version 7, which rejects a script's line of flags. */
export function withoutScriptFlags(redis: Redis): void {
  const known = new Set<string>();
  const [evalsha, evaluate] = [redis.evalsha.bind(redis), redis.eval.bind(redis)] as Ask[];
  const patched = redis as unknown as { evalsha: Ask; eval: Ask };
  patched.evalsha = (sha, ...rest) =>
    known.has(sha)
      ? evalsha!(sha, ...rest)
      : Promise.reject(new Error('NOSCRIPT No matching script. Please use EVAL.'));
  patched.eval = (text, ...rest) => {
    if (text.startsWith('#!'))
      return Promise.reject(
        new Error("ERR Error compiling script (new function): user_script:1: unexpected symbol near '#'"),
      );
    known.add(createHash('sha1').update(text).digest('hex'));
    return evaluate!(text, ...rest);
  };
}

type Ask = (script: string, ...rest: unknown[]) => Promise<unknown>;
