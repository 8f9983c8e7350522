const REDIS_CALL = 'local rcall = redis.call\n';
/** A function that begins and ends at the left edge. */
const HELPER = /^(?:local function (\w+)|(?:local )?(\w+) = function) ?\([^)]*\)\n[^]*?^end$\n?/gm;
/** The name of a function that is defined further down. */
const DECLARED = /^local (\w+)\n(?=[^]*^\1 = function)/gm;
/** These use variables of the text they stand in. Of the other helpers in the known texts none does. */
const STAY = ['cleanList', 'removeLockKeys'];
/** What stands around some of them: the functions of `environment.lua`. */
const AROUND: Readonly<Record<string, readonly string[]>> = {
  once: ['promoteDelayedJobs', 'trimEvents', 'addBaseMarkerIfNeeded', 'getOrSetMaxEvents'],
  onceUnlimited: ['isQueuePausedOrMaxed', 'getQueueMetadata'],
  lastly: ['removeJobsByMaxAge', 'removeJobsByMaxCount'],
  inTheSameSet: ['removeJobFromAnyState'],
};

/** Those around a helper of one script only. */
const AROUND_IN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  addPrioritizedJob: { getPriorityScore: 'unlessGiven' },
};

/**
 * BullMQ's texts make their helper functions in every call: about forty for the end of a run. They are taken out of the text, so that a
 * step of many jobs makes them once.
 */
export function takeHelpersOut(
  lua: string,
  script = '',
): { readonly helpers: string; readonly main: string } {
  const helpers = [REDIS_CALL];
  const declared = lua.replace(DECLARED, (text) => {
    helpers.push(text);
    return '';
  });
  const main = declared.replace(HELPER, (text: string, name = '') => {
    if (STAY.includes(name)) return text;
    helpers.push(text, wrapping(name, script));
    return '';
  });
  return { helpers: helpers.join(''), main };
}

function wrapping(name: string, script: string): string {
  const around = AROUND_IN[script]?.[name] ?? Object.keys(AROUND).find((key) => AROUND[key]!.includes(name));
  return around ? `${name} = ${around}(${name})\n` : '';
}
