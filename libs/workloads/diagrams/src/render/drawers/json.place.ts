import type { Place } from '../errors.js';

/** Where a JSON text is broken, if its reader told: by its offset, or by the token it met. */
export function placeInJson(source: string, message: string): Place {
  const [, told] = /\bat position (\d+)/.exec(message) ?? [];
  const at = told === undefined ? endIfCutShort(source, message) : Number(told);
  if (at === undefined) return {};
  const before = source.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function endIfCutShort(source: string, message: string): number | undefined {
  return message.includes('end of JSON input') ? source.trimEnd().length : undefined;
}
