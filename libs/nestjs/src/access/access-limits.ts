/** To which jobs a caller is limited: those of these owner types, kinds and queues. What is left out is not limited. */
export interface AccessLimits {
  readonly ownerTypes?: readonly string[] | undefined;
  readonly kinds?: readonly string[] | undefined;
  readonly queues?: readonly string[] | undefined;
}

export interface LimitedJob {
  readonly kind: string;
  readonly queue: string;
  readonly owners: readonly string[];
}

/** Every owner of the job has to be of one of the types. A job without owners is of none. */
export function isWithin({ ownerTypes, kinds, queues }: AccessLimits, job: LimitedJob): boolean {
  return (
    (kinds === undefined || kinds.includes(job.kind)) &&
    (queues === undefined || queues.includes(job.queue)) &&
    (ownerTypes === undefined ||
      (job.owners.length > 0 && job.owners.every((owner) => ownerTypes.includes(typeOfOwner(owner)))))
  );
}

/** Whether all jobs within `inner` are within `outer`. */
export function covers(outer: AccessLimits, inner: AccessLimits): boolean {
  const sides = ['ownerTypes', 'kinds', 'queues'] as const;
  return sides.every((side) => !outer[side] || inner[side]?.every((name) => outer[side]!.includes(name)));
}

/** @param owner as in `trip:42` */
export function typeOfOwner(owner: string): string {
  return owner.slice(0, Math.max(0, owner.indexOf(':')));
}
