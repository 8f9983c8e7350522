/** Ends a process that leads a group, and everything it started, without asking. */
export function killGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? leader : -leader, 'SIGKILL');
  } catch {
    // Nobody is left of it.
  }
}
