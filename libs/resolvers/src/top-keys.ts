/** Strings, brackets, and the comma and colon between: whatever else JSON has decides nothing here. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/** The keys of an object in JSON, in order, as often as they are there: a parser keeps the last of each alone. */
export function topKeys(json: string): string[] {
  const keys: string[] = [];
  let depth = 0;
  let before: string | undefined;
  for (const [token] of json.matchAll(TOKEN)) {
    // An escaped letter is the letter.
    if (token === ':' && depth === 1) keys.push(JSON.parse(before!) as string);
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    before = token;
  }
  return keys;
}
