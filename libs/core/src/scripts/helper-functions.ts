const REDIS_CALL = 'local rcall = redis.call\n';
/** A function that begins and ends at the left edge. */
const HELPER = /^local (?:function (\w+)|(\w+) = function) ?\([^)]*\)\n[^]*?^end$\n?/gm;
/** These use variables of the text they stand in. Of the other helpers in the known texts none does. */
const STAY = ['cleanList', 'removeLockKeys'];
/** Enough once in a step of many jobs: delayed jobs that are due wait, old events go, and workers are told that there are jobs. */
const ONCE = ['promoteDelayedJobs', 'trimEvents', 'addBaseMarkerIfNeeded'];
/** Enough at the end of a step: jobs that ended long ago go. */
const LASTLY = ['removeJobsByMaxAge', 'removeJobsByMaxCount'];

/**
 * BullMQ's texts make their helper functions in every call: about forty for the end of a run. They are taken out of the text, so that a
 * step of many jobs makes them once.
 */
export function takeHelpersOut(lua: string): { readonly helpers: string; readonly main: string } {
  const helpers = [REDIS_CALL];
  const main = lua.replace(HELPER, (text: string, name = '') => {
    if (STAY.includes(name)) return text;
    helpers.push(text, wrapping(name));
    return '';
  });
  return { helpers: helpers.join(''), main };
}

function wrapping(name: string): string {
  if (ONCE.includes(name)) return `${name} = once(${name})\n`;
  return LASTLY.includes(name) ? `${name} = lastly(${name})\n` : '';
}
