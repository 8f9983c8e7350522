import type { Redis } from 'ioredis';
import { ENDINGS } from './endings.js';
import type { ScriptName, ScriptRunner } from './script-runner.js';
import { hold } from './violation.js';

/** Everything that is kept beside these keys, byte for byte. */
export async function stateOf(redis: Redis, keys: readonly string[]): Promise<string> {
  const names = keys.flatMap((key) => ENDINGS.map((ending) => key + ending));
  const dumps = await Promise.all(names.map((name) => redis.dumpBuffer(name)));
  return dumps.map((dump, i) => `${names[i]} ${dump?.toString('hex') ?? ''}`).join('\n');
}

/** F7: what a client sends again because the answer was lost has the same answer, and changes nothing more. */
export function sendingTwice(run: ScriptRunner, redis: Redis): ScriptRunner {
  return async (name, keys, args) => {
    const first = await run(name, keys, args);
    const before = await stateOf(redis, keys);
    const second = await run(name, keys, args);
    const isSame = wordsOf(name, first) === wordsOf(name, second);
    hold('F7', isSame, () => `${name} answers ${JSON.stringify(first)}, then ${JSON.stringify(second)}`);
    const after = await stateOf(redis, keys);
    hold('F7', before === after, () => `${name} sent twice makes\n${after}\nof\n${before}`);
    return first;
  };
}

/** A place that is asked for again is said to have been there; who was woken was woken once. */
function wordsOf(name: ScriptName, answer: unknown): string {
  if (!Array.isArray(answer)) return typeof answer;
  if (!Array.isArray(answer[0])) return JSON.stringify(answer);
  return JSON.stringify((answer as string[][]).map((words) => comparable(name, words)));
}

function comparable(name: ScriptName, words: string[]): string[] {
  if (name === 'reserve' && words.at(-1) === 'again') return words.slice(0, -1);
  if (name === 'take') return words.slice(0, words[0] === 'wait' ? 2 : 1);
  return words;
}
