const WIDTH = 24;

/** How far something is that has an end. What was counted at its beginning may have grown. */
export function bar(done: number, of: number): string {
  const full = of === 0 ? WIDTH : Math.min(WIDTH, Math.floor((WIDTH * done) / of));
  return `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${done} of ${Math.max(done, of)}`;
}
