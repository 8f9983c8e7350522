/** A job as the scripts name it, `<queue>:<id>`: a queue has no colon in its name. */
export function readJobRef(ref: string): { queue: string; id: string } {
  const colon = ref.indexOf(':');
  return { queue: ref.slice(0, colon), id: ref.slice(colon + 1) };
}
