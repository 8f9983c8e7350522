/** The name that differs least from a given one, if it differs by at most `atMost` letters. */
export function nearestName(name: string, names: readonly string[], atMost: number): string | undefined {
  let best: { name: string; distance: number } | undefined;
  for (const candidate of names) {
    // A difference in length is at least as many differences in letters, so a long text costs nothing.
    if (Math.abs(candidate.length - name.length) > atMost) continue;
    const distance = editDistance(name, candidate);
    if (distance <= atMost && distance < (best?.distance ?? Infinity)) best = { name: candidate, distance };
  }
  return best?.name;
}

/** How many letters must be put in, left out or changed to make one word the other. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const change = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}
