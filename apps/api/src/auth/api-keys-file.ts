import { SCOPES } from '#http';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { ApiKey } from './api-keys.js';
import { readRate } from './rate.js';

const OWNER_TYPE = /^[a-z][a-z0-9_-]{0,63}$/i;

const names = (form: RegExp, expected: string): z.ZodOptional<z.ZodArray<z.ZodString>> =>
  z
    .array(z.string().regex(form, expected))
    .min(1, 'expected at least one; leave it out for no limit')
    .optional();

/** Strict: a limit that is misspelt would otherwise be no limit. */
const Entry = z.strictObject({
  name: z.string().regex(/^[\w.-]{1,64}$/, 'expected 1 to 64 letters, digits, . _ -'),
  sha256: z.string().regex(/^[0-9a-f]{64}$/i, 'expected the SHA-256 of the key, 64 hex digits'),
  scopes: z.array(z.enum(SCOPES)).min(1, `expected some of ${SCOPES.join(', ')}`),
  ownerTypes: names(OWNER_TYPE, 'expected the type of an owner, as in trip'),
  kinds: names(/^.{1,64}$/, 'expected the name of a kind'),
  queues: names(/^[^:]{1,256}$/, 'expected the name of a queue'),
  rate: z.string().transform(readRate).optional(),
});
type Entry = z.output<typeof Entry>;

/** Reads keys with limits from a JSON file and reports every problem. Use it as a zod `transform`. */
export function readApiKeysFile(path: string, context: z.core.$RefinementCtx): ApiKey[] {
  const { keys, problems } = readEntries(path);
  for (const problem of problems) context.addIssue({ code: 'custom', message: `${path}: ${problem}` });
  return problems.length > 0 ? [] : keys;
}

function readEntries(path: string): { keys: ApiKey[]; problems: string[] } {
  let list: unknown;
  try {
    list = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    // The text of a syntax error repeats the file, which may have a key in the wrong place.
    return { keys: [], problems: [name === 'SyntaxError' ? 'is not JSON' : `cannot be read (${code})`] };
  }
  const read = z.array(Entry).min(1, 'expected at least one key').safeParse(list);
  if (!read.success) return { keys: [], problems: read.error.issues.map(describe) };
  return { keys: read.data.map(keyOf), problems: repeated(read.data) };
}

function keyOf({ name, scopes, sha256, rate, ...sides }: Entry): ApiKey {
  const isLimited = Object.values(sides).some((side) => side !== undefined);
  const key = { name, scopes: new Set(scopes), hash: Buffer.from(sha256, 'hex') };
  return { ...key, ...(isLimited && { limits: sides }), ...(rate && { rate }) };
}

/** Of two entries with the same key, which limits hold would be a matter of chance. */
function repeated(entries: readonly Entry[]): string[] {
  const hashes = entries.map(({ sha256 }) => sha256.toLowerCase());
  return hashes.flatMap((hash, i) => {
    const first = hashes.indexOf(hash);
    return first < i ? [`entry ${i + 1}: sha256: the same as that of entry ${first + 1}`] : [];
  });
}

function describe({ path: [entry, ...field], message }: z.core.$ZodIssue): string {
  if (entry === undefined) return message;
  const place = [`entry ${Number(entry) + 1}`, ...(field.length > 0 ? [field.join('.')] : [])];
  return `${place.join(': ')}: ${message}`;
}
