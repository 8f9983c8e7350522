import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Cluster, Redis } from 'ioredis';

/** Our scripts, each beside the verb that calls it. */
const FILES = {
  reserve: 'enqueue/reserve.lua',
  depth: 'enqueue/depth.lua',
  begin: 'gate/begin.lua',
  renew: 'gate/renew.lua',
  take: 'gate/take.lua',
  commit: 'settle/commit.lua',
  end: 'settle/end.lua',
  cancel: 'cancel/cancel.lua',
  reopen: 'cancel/reopen.lua',
  drop: 'cancel/drop.lua',
  answered: 'cancel/answered.lua',
  finish: 'cancel/finish.lua',
  intent: 'cancel/intent.lua',
  tell: 'cancel/tell.lua',
  remember: 'history/remember.lua',
  reap: 'sweep/reap.lua',
  moor: 'schedules/moor.lua',
  unmoor: 'schedules/unmoor.lua',
  plan: 'schedules/plan.lua',
  strike: 'schedules/strike.lua',
  undone: 'schedules/undone.lua',
  claim: 'schedules/claim.lua',
  turn: 'schedules/turn.lua',
  list: 'sweep/list.lua',
  unlist: 'sweep/unlist.lua',
  doom: 'sweep/doom.lua',
  sight: 'sweep/sight.lua',
  lock: 'sweep/lock.lua',
  due: 'sweep/due.lua',
  expire: 'sweep/expire.lua',
  mend: 'sweep/mend.lua',
  save: 'sweep/save.lua',
} as const;

export type ScriptName = keyof typeof FILES;

interface Source {
  readonly text: string;
  readonly sha: string;
}

const SHEBANG = /^#!lua.*\n/;

/** Loads a script and the pieces it includes, once. */
function load(name: ScriptName): Source {
  const text = read(FILES[name]).replace(/^--- @include (\w+)$/gm, (_, piece: string) =>
    read(`scripts/${piece}.lua`),
  );
  return sourceOf(text);
}

function read(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8');
}

function sourceOf(text: string): Source {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

const sources = new Map<ScriptName, Source>();

function source(name: ScriptName, knowsFlags: boolean): Source {
  const key = `${name}${knowsFlags ? '' : ' plain'}` as ScriptName;
  let found = sources.get(key);
  if (!found) {
    found = knowsFlags ? load(name) : sourceOf(source(name, true).text.replace(SHEBANG, ''));
    sources.set(key, found);
  }
  return found;
}

/** Before version 7 a server takes no flags, and the line that names them is an error to it. */
const withoutFlags = new WeakSet<Redis | Cluster>();

/** Runs one of our scripts. A server that does not know it yet is given it. */
export async function runScript(
  redis: Redis | Cluster,
  name: ScriptName,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  const { text, sha } = source(name, !withoutFlags.has(redis));
  try {
    return await redis.evalsha(sha, keys.length, ...keys, ...args);
  } catch (error) {
    const { message } = error as Error;
    if (message.startsWith('NOSCRIPT')) return await evaluate(redis, name, text, keys, args);
    throw error;
  }
}

async function evaluate(
  redis: Redis | Cluster,
  name: ScriptName,
  text: string,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await redis.eval(text, keys.length, ...keys, ...args);
  } catch (error) {
    if (withoutFlags.has(redis) || !/compiling script/.test((error as Error).message)) throw error;
    withoutFlags.add(redis);
    return await runScript(redis, name, keys, args);
  }
}
