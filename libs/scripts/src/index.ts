import { createHash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';

interface Text {
  readonly text: string;
  readonly sha: string;
}

const SHEBANG = /^#!lua.*\n/;

/** A Lua script for the store, which may begin with a line of flags. */
export class Script {
  readonly flagged: Text;
  readonly plain: Text;

  constructor(text: string) {
    this.flagged = textOf(text);
    this.plain = textOf(text.replace(SHEBANG, ''));
  }
}

/** Before version 7 a server takes no flags, and the line that names them is an error to it. */
const withoutFlags = new WeakSet<Redis | Cluster>();

/** Runs a script. A server that does not know it yet is given it. */
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

/** The store's clock, ms: the one that everybody shares. */
export async function storeTime(redis: Redis | Cluster): Promise<number> {
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
}

function textOf(text: string): Text {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}
