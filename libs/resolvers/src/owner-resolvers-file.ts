import { owner } from '#core';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { readEntry, type Environment } from './entry.js';
import type { OwnerResolverSettings, ResolverSettings } from './settings.js';
import { topKeys } from './top-keys.js';

/** Reads the resolvers from a JSON file and reports every problem. Use it as a zod `transform`. */
export function readOwnerResolvers(
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
  const read: Read = { settings: new Map(), problems: [] };
  let text;
  try {
    // Some editors add a byte order mark, which is not valid JSON.
    text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    read.problems.push(`cannot be read (${(error as NodeJS.ErrnoException).code})`);
    return read;
  }
  if (text.trim() === '') {
    read.problems.push('is empty');
    return read;
  }
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    // The parser's message quotes the file, which may hold a password.
    read.problems.push('is not JSON');
    return read;
  }
  const entries = z.record(z.string(), z.unknown()).safeParse(file);
  if (!entries.success) {
    read.problems.push('expected an object, as in {"ride":{"http":{"url":"https://…"}}}');
    return read;
  }
  const types = topKeys(text);
  for (const type of new Set(types)) {
    const count = types.filter((one) => one === type).length;
    if (count > 1) read.problems.push(`${type}: has ${count} resolvers; leave one`);
  }
  // `__proto__` would set the prototype instead of a key.
  if (types.includes('__proto__')) read.problems.push('__proto__: is no type of owner');
  for (const [type, entry] of Object.entries(entries.data)) readType(type, entry, env, read);
  return read;
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
