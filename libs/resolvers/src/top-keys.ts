/** Strings, brackets, commas and colons; other tokens do not matter here. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/** Keys of a JSON object including duplicates, of which a parser keeps only the last. */
export function topKeys(json: string): string[] {
  const keys: string[] = [];
  let depth = 0;
  let before: string | undefined;
  for (const [token] of json.matchAll(TOKEN)) {
    // Parsing resolves escapes in the key.
    if (token === ':' && depth === 1) keys.push(JSON.parse(before!) as string);
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    before = token;
  }
  return keys;
}
