const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** For workloads whose ids are UUIDs: an owner such as `trip:42` belongs to another service. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** The hexadecimal digits. A workload with one due list per digit spreads over the slots of a Cluster. */
export const SHARDS: readonly string[] = Array.from({ length: 16 }, (_, i) => i.toString(16));

/** A time of the store, in ms as text, as an ISO date. */
export function isoDate(ms: string): string {
  return new Date(Number(ms)).toISOString();
}
