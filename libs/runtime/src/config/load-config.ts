import { z } from 'zod';
import { nearestName } from '#nearest-name';

/** Names with our prefix, except those that Kubernetes creates for a Service named mooring. */
const OURS = /^MOORING_(?!(.*_)?(SERVICE_(HOST|PORT)|PORT(_\d+_(TCP|UDP|SCTP))?)(_|$))/;

/** Variables of the CLI, which may also be set in the shell that starts the fleet. */
const OF_THE_TOOL = ['MOORING_URL', 'MOORING_KEY'];

/** Former name of a variable and the unit of its value: `meta({ older })`. The current name takes precedence. */
interface Older {
  readonly name: string;
  readonly unit: string;
}

/** The environment is invalid. The message lists every problem on its own line. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    super(`The environment has ${count}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/** Reads the settings of an app. Throws one error with all problems. An empty variable counts as unset. */
export function loadConfig<S extends z.ZodObject>(schema: S, env: NodeJS.ProcessEnv): z.output<S> {
  const known = Object.keys(schema.shape);
  const set: Record<string, string> = {};
  /** Settings that are set by their former name. */
  const olderNames = new Map<string, string>();
  for (const name of known) {
    const text = env[name]?.trim();
    const older = (schema.shape[name] as z.ZodType).meta()?.['older'] as Older | undefined;
    const olderText = older && env[older.name]?.trim();
    if (text) set[name] = text;
    else if (older && olderText) {
      set[name] = olderText + older.unit;
      olderNames.set(name, older.name);
    }
  }
  const read = schema.safeParse(set);
  const problems = [
    ...(read.success ? [] : read.error.issues.map((issue) => describeIssue(issue, olderNames))),
    ...Object.keys(env)
      .filter((name) => env[name] && OURS.test(name) && ![...known, ...OF_THE_TOOL].includes(name))
      .map((name) => describeUnknown(name, known)),
  ];
  if (!read.success || problems.length > 0) throw new ConfigError(problems);
  return read.data;
}

/** Unused variables whose name resembles a setting. Only a warning, because other programs have variables of their own. */
export function suspectNames(schema: z.ZodObject, env: NodeJS.ProcessEnv): string[] {
  const known = Object.keys(schema.shape);
  return Object.keys(env).flatMap((name) => {
    if (known.includes(name) || OURS.test(name) || name.length < 7) return [];
    const near = nearestName(name, known, 1);
    return near && !env[near] ? [`${name} is set but not used. Did you mean ${near}?`] : [];
  });
}

function describeIssue(issue: z.core.$ZodIssue, olderNames: ReadonlyMap<string, string>): string {
  const name = issue.path.join('.') || 'together';
  return `${olderNames.get(name) ?? name}: ${issue.message}`;
}

function describeUnknown(name: string, known: readonly string[]): string {
  const near = nearestName(name, known, 4);
  return `${name}: no such variable${near ? `; did you mean ${near}?` : ''}`;
}
