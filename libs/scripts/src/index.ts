import { hash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';

interface Text {
  readonly text: string;
  readonly sha: string;
}

const SHEBANG = /^#!lua.*\n/;

/** A Lua script, which may begin with a shebang line of flags. */
export class Script {
  readonly flagged: Text;
  readonly plain: Text;

  constructor(text: string) {
    this.flagged = textOf(text);
    this.plain = textOf(text.replace(SHEBANG, ''));
  }
}

/** Connections to servers before version 7, which reject the shebang line. */
const withoutFlags = new WeakSet<Redis | Cluster>();

/** Runs a script by its SHA and loads it if the server does not have it. */
export async function runScript(
  redis: Redis | Cluster,
  script: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  const { text, sha } = withoutFlags.has(redis) ? script.plain : script.flagged;
  try {
    return await redis.evalsha(sha, keys.length, ...keys, ...args);
  } catch (error) {
    if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
  }
  try {
    return await redis.eval(text, keys.length, ...keys, ...args);
  } catch (error) {
    if (withoutFlags.has(redis) || !/compiling script/.test((error as Error).message)) throw error;
    withoutFlags.add(redis);
    return await runScript(redis, script, keys, args);
  }
}

/** Time of the store in ms, the clock that all processes share. */
export async function storeTime(redis: Redis | Cluster): Promise<number> {
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
}

function textOf(text: string): Text {
  return { text, sha: hash('sha1', text) };
}
