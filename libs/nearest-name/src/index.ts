/** The most similar name by edit distance; undefined if every distance exceeds `atMost`. */
export function nearestName(name: string, names: readonly string[], atMost: number): string | undefined {
  let best: { name: string; distance: number } | undefined;
  for (const candidate of names) {
    // The distance is at least the difference in length, so very long texts are skipped.
    if (Math.abs(candidate.length - name.length) > atMost) continue;
    const distance = editDistance(name, candidate);
    if (distance <= atMost && distance < (best?.distance ?? Infinity)) best = { name: candidate, distance };
  }
  return best?.name;
}

/** Levenshtein distance. */
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
