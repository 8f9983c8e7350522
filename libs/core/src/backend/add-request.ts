import { optsEncodeMap, type JobJson, type JobsOptions, type ParentKeyOpts } from 'bullmq';
import { InvalidJobError } from '../model/errors.js';
import type { OwnedOptions } from './owned-options.js';
import { Template, type Argument, type StepItem } from './step-arguments.js';

/**
 * One job for `add.lua`.
 * @param owned nothing for a job without owners that is added in one step with others
 */
export function addRequestOf(
  job: JobJson,
  jobId: string,
  prefix: string,
  owned: OwnedOptions | undefined,
  parentKeyOpts: ParentKeyOpts,
): StepItem {
  const { jobId: callersId, ...opts } = owned?.rest ?? job.opts;
  const flow = flowOf(job, parentKeyOpts);
  const own: Argument[] = [jobId, Math.floor(owned?.askedAt ?? job.timestamp), job.data, owned?.names ?? ''];
  if (owned?.needs) own.push(owned.needs);
  if (flow) own.push(flow);
  if (owned?.once) own.push(owned.once);
  const template = new Template([
    sortOf(opts, parentKeyOpts),
    prefix,
    job.name,
    JSON.stringify(encodeOptions(opts)),
    String(owned?.lifeMs ?? ''),
    owned?.strategy ?? '',
    String(owned?.longestWaitMs ?? ''),
    callersId ? '1' : '',
    owned?.needs ? '1' : '',
    flow ? '1' : '',
    owned?.once ? '1' : '',
  ]);
  return { template, own };
}

/** Which of BullMQ's scripts adds it. */
function sortOf(opts: JobsOptions, parentKeyOpts: ParentKeyOpts): string {
  if (parentKeyOpts.addToWaitingChildren) return 'addParentJob';
  if (opts.delay && !Number.isFinite(opts.delay)) throw new InvalidJobError('A delay is a number of ms.');
  if (opts.delay && opts.delay > 0) return 'addDelayedJob';
  return opts.priority ? 'addPrioritizedJob' : 'addStandardJob';
}

function flowOf(job: JobJson, { parentDependenciesKey, deferParentRelease }: ParentKeyOpts): string {
  if (!job.parentKey && !job.repeatJobKey && !job.deduplicationId) return '';
  return JSON.stringify([
    job.parentKey ?? null,
    parentDependenciesKey || null,
    job.parent ?? null,
    job.repeatJobKey ?? null,
    deferParentRelease ? 1 : null,
    job.deduplicationId ?? null,
  ]);
}

/** The options as BullMQ stores them. */
function encodeOptions(opts: JobsOptions): Record<string, unknown> {
  const encoded: Record<string, unknown> = {};
  for (const name in opts) {
    const value = opts[name as keyof JobsOptions];
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
