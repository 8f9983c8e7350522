const WIDTH = 24;

/** Progress bar. `done` may exceed `of`, because the total was counted at the start. */
export function bar(done: number, of: number): string {
  const full = of === 0 ? WIDTH : Math.min(WIDTH, Math.floor((WIDTH * done) / of));
  return `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${done} of ${Math.max(done, of)}`;
}
