import { runScript as run, Script } from '#scripts';
import { readFileSync } from 'node:fs';
import type { Cluster, Redis } from 'ioredis';

/** Our scripts, each beside the verb that calls it. */
const FILES = {
  reserve: 'enqueue/reserve.lua',
  depth: 'enqueue/depth.lua',
  begin: 'gate/begin.lua',
  renew: 'gate/renew.lua',
  take: 'gate/take.lua',
  slotLimit: 'slots/slot-limit.lua',
  commit: 'settle/commit.lua',
  end: 'settle/end.lua',
  cancel: 'cancel/cancel.lua',
  reopen: 'cancel/reopen.lua',
  drop: 'cancel/drop.lua',
  along: 'cancel/along.lua',
  answered: 'cancel/answered.lua',
  finish: 'cancel/finish.lua',
  held: 'cancel/held.lua',
  intent: 'cancel/intent.lua',
  forget: 'cancel/forget.lua',
  tell: 'cancel/tell.lua',
  empty: 'cancel/empty.lua',
  empties: 'cancel/empties.lua',
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
  misplaced: 'sweep/misplaced.lua',
  purge: 'sweep/purge.lua',
  save: 'sweep/save.lua',
} as const;

export type ScriptName = keyof typeof FILES;

const sources = new Map<ScriptName, Script>();

/** Loads a script and the pieces it includes, once. */
function load(name: ScriptName): Script {
  let script = sources.get(name);
  if (!script) {
    const text = read(FILES[name]).replace(/^--- @include (\w+)$/gm, (_, piece: string) =>
      read(`scripts/${piece}.lua`),
    );
    script = new Script(text);
    sources.set(name, script);
  }
  return script;
}

function read(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8');
}

/** Runs one of our scripts. */
export function runScript(
  redis: Redis | Cluster,
  name: ScriptName,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  return run(redis, load(name), keys, args);
}
