import { isatty } from 'node:tty';

const PARENT_MS = 500;

/**
 * Stops the launcher when its terminal closes, or when npm is killed and leaves its script running.
 *
 * A launcher in the background (`nohup`, `setsid`, a service manager) has no terminal. It outlives the script that started it,
 * and a hang-up does not end it. Node.js resets signals that `nohup` ignores, so that is asked of its streams.
 */
export function endWithStarter(end: () => void): void {
  const watch = isScriptOfOurs() ? watchParent(end) : undefined;
  process.on('SIGHUP', () => {
    if (hasTerminal) return end();
    // npm gets the same signal, and exits by it.
    clearInterval(watch);
  });
}

const hasTerminal = [0, 1, 2].some((stream) => isatty(stream));

/** Package managers set these variables for scripts. The shell in between replaces itself, so the parent is npm. */
function isScriptOfOurs(): boolean {
  const { npm_lifecycle_event: script, npm_package_name: name } = process.env;
  return name === 'mooring' && script === 'start';
}

function watchParent(end: () => void): NodeJS.Timeout {
  const parent = process.ppid;
  return setInterval(() => process.ppid === parent || end(), PARENT_MS).unref();
}
