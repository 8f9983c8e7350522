import type { Job, JobsOptions } from 'bullmq';
import type { OwnersOf } from '../model/owners-of.js';

/** The options of a job, with the owners that `ownersOf` has for it if the caller named none. */
export function withOwners<Options extends JobsOptions>(
  ownersOf: OwnersOf | undefined,
  name: string,
  data: Job['data'],
  opts?: Options,
): Options | undefined {
  if (!ownersOf || opts?.owners) return opts;
  const owners = ownersOf({ name, data, opts: opts ?? {}, id: opts?.jobId });
  return owners.length === 0 ? opts : ({ ...opts, owners } as Options);
}
