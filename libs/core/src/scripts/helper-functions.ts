/** A text of BullMQ's, in two parts. */
export interface Parts {
  /** Functions that depend on nothing of one call. */
  readonly helpers: string;
  readonly main: string;
}

const REDIS_CALL = 'local rcall = redis.call';
/** What is enough once in a step of many jobs: delayed jobs that are due wait, and old events go. */
const ONCE = ['promoteDelayedJobs', 'trimEvents'];
/** A function that begins and ends at the left edge. */
const HELPER = /^local (?:function (\w+)|(\w+) = function) ?\(([^)]*)\)\n[^]*?^end$\n?/gm;
/** Variables of the main part, which stand at the left edge as well. */
const VARIABLES = /^local (?!function\b)([\w, ]+)/gm;
const DECLARED = /\blocal (?:function )?([\w, ]+)|\bfor ([\w, ]+) (?:=|in)|\bfunction ?\(([^)]*)\)/g;
const NOT_CODE = /--\[\[[^]*?\]\]|--.*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|(?<!\.)\.\w+/g;

/**
 * BullMQ's texts make their helper functions anew in every call: about forty for the end of a run. Those that use no variable of
 * the text they stand in are taken out, so that a step of many jobs makes them once.
 */
export function takeHelpersOut(lua: string): Parts {
  const ofOneCall = new Set([...variablesOf(lua.replace(HELPER, '')), 'KEYS', 'ARGV']);
  const helpers = [`${REDIS_CALL}\n`];
  const main = lua.replace(HELPER, (text: string, name = '', other = '', params = '') => {
    if (usesAny(text, params, ofOneCall)) {
      ofOneCall.add(name || other);
      return text;
    }
    helpers.push(text, ONCE.includes(name) ? `${name} = once(${name})\n` : '');
    return '';
  });
  return { helpers: helpers.join(''), main };
}

function variablesOf(lua: string): string[] {
  const names = [...lua.matchAll(VARIABLES)].flatMap(([, list]) => namesIn(list!));
  return names.filter((name) => name !== 'rcall');
}

/** Does a function use one of these names for something that it has not declared itself? */
function usesAny(text: string, params: string, names: ReadonlySet<string>): boolean {
  const code = text.replace(NOT_CODE, ' ');
  const own = new Set(namesIn(params));
  for (const [, locals, counters, inner] of code.slice(code.indexOf('\n')).matchAll(DECLARED)) {
    for (const name of namesIn(locals ?? counters ?? inner ?? '')) own.add(name);
  }
  return namesIn(code.slice(code.indexOf('\n'))).some((name) => names.has(name) && !own.has(name));
}

function namesIn(text: string): string[] {
  return text.match(/[A-Za-z_]\w*/g) ?? [];
}
