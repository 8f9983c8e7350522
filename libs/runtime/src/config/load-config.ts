import { z } from 'zod';
import { nearestName } from '#nearest-name';

/** Names of ours; but for those that Kubernetes makes of a Service called mooring. */
const OURS = /^MOORING_(?!(.*_)?(SERVICE_(HOST|PORT)|PORT(_\d+_(TCP|UDP|SCTP))?)(_|$))/;

/** Read by the command line tool, and set in the shell from which the fleet is started as well. */
const OF_THE_TOOL = ['MOORING_URL', 'MOORING_KEY'];

/** What a variable was called before, and the unit of its number then: `meta({ older })`. The newer name goes first. */
interface Older {
  readonly name: string;
  readonly unit: string;
}

/** The environment cannot be used. The message holds every problem, a line each. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    super(`The environment has ${count}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/** Reads one app's settings from an environment; throws all problems at once. An empty variable counts as unset. */
export function loadConfig<S extends z.ZodObject>(schema: S, env: NodeJS.ProcessEnv): z.output<S> {
  const known = Object.keys(schema.shape);
  const set: Record<string, string> = {};
  /** Under which name each is set, where that is its older one. */
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

/** Variables that are read by nobody but look like one that is: worth a warning, since other programs have theirs. */
export function suspectNames(schema: z.ZodObject, env: NodeJS.ProcessEnv): string[] {
  const known = Object.keys(schema.shape);
  return Object.keys(env).flatMap((name) => {
    if (known.includes(name) || OURS.test(name) || name.length < 7) return [];
    const near = nearestName(name, known, 1);
    return near && !env[near] ? [`${name} is set, but nobody reads it. Did you mean ${near}?`] : [];
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
