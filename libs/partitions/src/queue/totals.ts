import type { Adoption, RetriedJobs } from '#core';

export function addAdoptions(a: Adoption, b: Adoption): Adoption {
  const error = a.error ?? b.error;
  return {
    seen: a.seen + b.seen,
    adopted: a.adopted + b.adopted,
    removed: a.removed + b.removed,
    failed: a.failed + b.failed,
    ...(error !== undefined && { error }),
  };
}

export function addRetried(a: RetriedJobs, b: RetriedJobs): RetriedJobs {
  return {
    seen: a.seen + b.seen,
    retried: a.retried + b.retried,
    refused: a.refused + b.refused,
    duplicates: a.duplicates + b.duplicates,
  };
}
