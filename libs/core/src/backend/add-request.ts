import { optsEncodeMap, type JobJson, type JobsOptions, type ParentKeyOpts } from 'bullmq';
import type { OwnedOptions } from './owned-options.js';

/** The arguments of one job for `add.lua`. */
export type AddRequest = readonly (string | number)[];

/** @param owned nothing for a job without owners that is added in one step with others */
export function addRequestOf(
  job: JobJson,
  jobId: string,
  prefix: string,
  owned: OwnedOptions | undefined,
  parentKeyOpts: ParentKeyOpts,
): AddRequest {
  const opts = owned?.rest ?? job.opts;
  return [
    sortOf(opts, parentKeyOpts),
    prefix,
    jobId,
    job.name,
    job.timestamp,
    job.data,
    JSON.stringify(encodeOptions(opts)),
    owned?.names ?? '',
    owned?.lifeMs ?? '',
    owned?.strategy ?? '',
    owned?.needs ?? '||',
    owned?.longestWaitMs ?? '',
    flowOf(job, parentKeyOpts),
  ];
}

/** Which of BullMQ's scripts adds it. */
function sortOf(opts: JobsOptions, parentKeyOpts: ParentKeyOpts): string {
  if (parentKeyOpts.addToWaitingChildren) return 'addParentJob';
  if (typeof opts.delay === 'number' && opts.delay > 0) return 'addDelayedJob';
  return opts.priority ? 'addPrioritizedJob' : 'addStandardJob';
}

function flowOf(job: JobJson, { parentDependenciesKey, deferParentRelease }: ParentKeyOpts): string {
  if (!job.parentKey && !job.repeatJobKey) return '';
  return JSON.stringify([
    job.parentKey ?? null,
    parentDependenciesKey || null,
    job.parent ?? null,
    job.repeatJobKey ?? null,
    deferParentRelease ? 1 : null,
  ]);
}

/** The options as BullMQ stores them. */
function encodeOptions(opts: JobsOptions): Record<string, unknown> {
  const encoded: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(opts)) {
    if (value === undefined) continue;
    if (name === 'telemetry') {
      const { metadata, omitContext } = value as { metadata?: string; omitContext?: boolean };
      if (metadata !== undefined) encoded['tm'] = metadata;
      if (omitContext !== undefined) encoded['omc'] = omitContext;
    } else {
      encoded[optsEncodeMap[name as keyof typeof optsEncodeMap] ?? name] = value;
    }
  }
  return encoded;
}
