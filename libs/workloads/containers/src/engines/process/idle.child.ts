import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { EngineUnavailable } from '../container.engine.js';
import { identify, type ProcessIdentity } from './process.identity.js';

/** How often a child looks whether it is still written down. */
const LOOK_SECONDS = 15;

/*
 * Waits until its maker lets go of it, or dies, and then looks for itself in its record: it runs only if it is the one
 * written there, and only for as long. So nobody can leave one behind that is not in the registry.
 */
const SCRIPT = `
ulimit -c 0
ulimit -v "$3" 2>/dev/null
read -r _
while read -r record < "$2"; do
  case "$record" in *"$1"*) sleep ${LOOK_SECONDS} ;; *) exit ;; esac
done 2>/dev/null
`;

/** What every image of the process runtime starts: a process that does nothing, in a group of its own. */
export class IdleChild {
  private constructor(
    private readonly child: ChildProcess,
    readonly identity: ProcessIdentity,
  ) {}

  static async start(id: string, record: string, memoryMb: number): Promise<IdleChild> {
    const args = ['-c', SCRIPT, 'mooring-container', id, record, String(memoryMb * 1024)];
    const child = spawn('/bin/sh', args, {
      cwd: '/',
      // Nothing of ours is in its environment.
      env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    child.stdin.on('error', () => undefined);
    await once(child, 'spawn').catch((cause: Error) => {
      throw new EngineUnavailable('No process could be started for a container.', { cause });
    });
    const identity = await identify(child.pid!);
    if (!identity) throw new EngineUnavailable('The process of a container ended as soon as it was started.');
    return new IdleChild(child, identity);
  }

  /** From here on it decides for itself, and outlives this process. */
  release(): void {
    this.child.stdin!.destroy();
    this.child.unref();
  }
}
