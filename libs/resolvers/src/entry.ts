import { formatDuration, parseDuration } from '#durations';
import { validateHeaderValue } from 'node:http';
import { z } from 'zod';
import { readServiceUrl } from './http/service-url.js';
import type { ResolverSettings } from './settings.js';
import { loadPg } from './sql/load-pg.js';

export type Environment = Readonly<Record<string, string | undefined>>;

const SHORTEST_MS = 100;
const LONGEST_MS = 30_000;

const timeout = z.union([z.string(), z.number()]).transform((value, context) => {
  const ms = parseDuration(value);
  if (ms !== undefined && ms >= SHORTEST_MS && ms <= LONGEST_MS) return ms;
  context.addIssue(`expected a duration of ${formatDuration(SHORTEST_MS)} to ${formatDuration(LONGEST_MS)}`);
  return z.NEVER;
});
const id = z.string().min(1);
const canaries = z
  .strictObject({ alive: id, gone: id })
  .refine(({ alive, gone }) => alive !== gone, 'the two must not be the same');

/** Variables of the environment are substituted before validation. */
const schemas = {
  http: z.strictObject({
    url: z.string(),
    timeout: timeout.optional(),
    canaries: canaries.optional(),
    allowPrivate: z.boolean().optional(),
    authorization: z.string().min(1).refine(isHeader, 'cannot be sent as a header').optional(),
  }),
  sql: z.strictObject({
    url: z.string().regex(/^postgres(ql)?:\/\/./, 'expected postgres://…'),
    query: z.string().regex(/\$1(?!\d)/, 'expected a query with $1, the ids that are asked for'),
    timeout: timeout.optional(),
    canaries: canaries.optional(),
  }),
};

/** Validates the entry of one type and reports every problem. */
export function readEntry(
  type: string,
  entry: unknown,
  env: Environment,
): { settings: ResolverSettings } | { problems: string[] } {
  const [via, more] = entry && typeof entry === 'object' ? Object.keys(entry) : [];
  if ((via !== 'http' && via !== 'sql') || more !== undefined)
    return { problems: ['expected either {"http":{…}} or {"sql":{…}}'] };
  const { given, unset } = fillIn((entry as Record<string, unknown>)[via], env);
  const problems = unset.map((name) => `${via}: \${${name}} is not set in the environment`);
  const read = schemas[via].safeParse(given);
  problems.push(...(read.error?.issues ?? []).map((issue) => describe(via, issue)));
  problems.push(...(via === 'http' ? urlProblems(given) : driverProblems()));
  if (!read.success || problems.length > 0) return { problems };
  const { timeout: timeoutMs, ...rest } = read.data;
  return {
    settings: { via, type, ...rest, ...(timeoutMs !== undefined && { timeoutMs }) } as ResolverSettings,
  };
}

/** Substitutes `${NAME}` in the URL and the header, so that secrets can stay out of the file. */
function fillIn(given: unknown, env: Environment): { given: unknown; unset: string[] } {
  const unset: string[] = [];
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return { given, unset };
  const filled = Object.entries(given).map(([field, value]): [string, unknown] => {
    if (typeof value !== 'string' || (field !== 'url' && field !== 'authorization')) return [field, value];
    const text = value.replace(/\$\{(\w+)\}/g, (_whole, name: string) => {
      if (!env[name]) unset.push(name);
      return env[name] ?? '';
    });
    return [field, text];
  });
  return { given: Object.fromEntries(filled), unset };
}

function urlProblems(given: unknown): string[] {
  const { url, allowPrivate } = (given ?? {}) as { url?: unknown; allowPrivate?: unknown };
  if (typeof url !== 'string') return [];
  const service = readServiceUrl(url, allowPrivate === true);
  return 'problem' in service ? [`http: ${service.problem}`] : [];
}

function driverProblems(): string[] {
  try {
    loadPg();
    return [];
  } catch (error) {
    return [`sql: ${(error as Error).message}`];
  }
}

function describe(via: string, issue: z.core.$ZodIssue): string {
  return `${[via, ...issue.path].join('.')}: ${issue.message}`;
}

function isHeader(value: string): boolean {
  try {
    validateHeaderValue('authorization', value);
    return true;
  } catch {
    return false;
  }
}
