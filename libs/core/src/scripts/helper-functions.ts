const REDIS_CALL = 'local rcall = redis.call\n';
/** A function that begins and ends at the left edge. */
const HELPER = /^local (?:function (\w+)|(\w+) = function) ?\([^)]*\)\n[^]*?^end$\n?/gm;
/** These use variables of the text they stand in. Of the other helpers in the known texts none does. */
const STAY = ['cleanList', 'removeLockKeys'];
/** What is enough once in a step of many jobs: delayed jobs that are due wait, and old events go. */
const ONCE = ['promoteDelayedJobs', 'trimEvents'];

/**
 * BullMQ's texts make their helper functions in every call: about forty for the end of a run. They are taken out of the text, so that a
 * step of many jobs makes them once.
 */
export function takeHelpersOut(lua: string): { readonly helpers: string; readonly main: string } {
  const helpers = [REDIS_CALL];
  const main = lua.replace(HELPER, (text: string, name = '') => {
    if (STAY.includes(name)) return text;
    helpers.push(text, ONCE.includes(name) ? `${name} = once(${name})\n` : '');
    return '';
  });
  return { helpers: helpers.join(''), main };
}
