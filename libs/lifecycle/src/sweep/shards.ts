/** In how many parts a list over all owners or jobs is, each in a Cluster slot of its own. */
export const SHARDS = 16;

/** Spreads owners and jobs by what they are called. */
export function shardOf(name: string): number {
  let sum = 0;
  for (let i = 0; i < name.length; i += 1) sum = (sum * 31 + name.charCodeAt(i)) >>> 0;
  return sum % SHARDS;
}
