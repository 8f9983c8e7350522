import { owner } from '#core';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { readEntry, type Environment } from './entry.js';
import type { OwnerResolverSettings, ResolverSettings } from './settings.js';
import { topKeys } from './top-keys.js';

/** What a process reads from its environment that asks whether owners live. Secrets in the file are named by variables. */
export function resolversEnv(env: Environment): {
  OWNER_RESOLVERS: z.ZodType<OwnerResolverSettings | undefined, string | undefined>;
} {
  return {
    OWNER_RESOLVERS: z
      .string()
      .transform((path, context) => readOwnerResolvers(path, context, env))
      .optional()
      .meta({ form: 'file' })
      .describe(
        'A JSON file that says who knows which owners live, for types that no code resolves; see `docs/resolvers.md`.',
      ),
  };
}

/** Reads the resolvers from a JSON file and reports every problem. */
function readOwnerResolvers(
  path: string,
  context: z.core.$RefinementCtx,
  env: Environment,
): OwnerResolverSettings {
  const { settings, problems } = readSettings(path, env);
  for (const problem of problems) context.addIssue({ code: 'custom', message: `${path}: ${problem}` });
  return problems.length > 0 ? new Map() : settings;
}

interface Read {
  readonly settings: Map<string, ResolverSettings>;
  readonly problems: string[];
}

function readSettings(path: string, env: Environment): Read {
  const nothing = (problem: string): Read => ({ settings: new Map(), problems: [problem] });
  let text;
  try {
    // Some editors add a byte order mark, which is not valid JSON.
    text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    return nothing(`cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  if (text.trim() === '') return nothing('is empty');
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    // The parser's message quotes the file, which may hold a password.
    return nothing('is not JSON');
  }
  const entries = z.record(z.string(), z.unknown()).safeParse(file);
  if (!entries.success) return nothing('expected an object, as in {"ride":{"http":{"url":"https://…"}}}');
  const read: Read = { settings: new Map(), problems: keyProblems(topKeys(text)) };
  for (const [type, entry] of Object.entries(entries.data)) readType(type, entry, env, read);
  return read;
}

function keyProblems(types: readonly string[]): string[] {
  const problems: string[] = [];
  for (const type of new Set(types)) {
    const count = types.filter((one) => one === type).length;
    if (count > 1) problems.push(`${type}: has ${count} resolvers; leave one`);
  }
  // `__proto__` would set the prototype instead of a key.
  if (types.includes('__proto__')) problems.push('__proto__: is no type of owner');
  return problems;
}

function readType(type: string, entry: unknown, env: Environment, { settings, problems }: Read): void {
  try {
    owner(type, 'any');
  } catch (error) {
    problems.push((error as Error).message.replace(/\.$/, ''));
  }
  const result = readEntry(type, entry, env);
  if ('problems' in result) problems.push(...result.problems.map((problem) => `${type}: ${problem}`));
  else settings.set(type, result.settings);
}
