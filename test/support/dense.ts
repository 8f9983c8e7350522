/** The edges of a complete graph, one per line, in the notation of `edge`. */
export function dense(many: number, edge: (a: number, b: number) => string): string {
  const lines: string[] = [];
  for (let a = 0; a < many; a += 1) for (let b = 0; b < a; b += 1) lines.push(edge(a, b));
  return lines.join('\n');
}
