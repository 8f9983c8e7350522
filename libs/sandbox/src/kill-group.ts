/** Kills a process that leads a group, and everything that it started. */
export function killGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? leader : -leader, 'SIGKILL');
  } catch {
    // All of it has exited.
  }
}
