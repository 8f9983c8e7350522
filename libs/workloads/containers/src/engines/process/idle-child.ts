import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { EngineUnavailable } from '../container-engine.js';
import { aliveFile, deadlineFile } from './deadlines.js';
import { identify, type ProcessIdentity } from './process-identity.js';

/** Interval at which a child checks its record. */
const LOOK_SECONDS = 15;
/** A live fleet announces itself every second. */
const SILENT_SECONDS = 3;

/*
 * Waits until the process that started it releases it or dies. Then it runs only while the registry holds its own record, so
 * no process outside the registry survives. After its deadline it waits for the fleet to end it, and ends by itself once no
 * process of the fleet is alive. It reads the deadline again before each check.
 */
const SCRIPT = `
ulimit -c 0
ulimit -v "$3" 2>/dev/null
read -r _
while read -r record < "$2"; do
  case "$record" in *"$1"*) ;; *) exit ;; esac
  nap=${LOOK_SECONDS}
  if read -r deadline < "$4"; then
    now=$(date +%s)
    left=$((deadline - now))
    if [ "$left" -le 0 ]; then
      alive=0
      read -r alive < "$5"
      if [ $((now - alive)) -gt ${SILENT_SECONDS} ]; then exit; fi
      left=1
    fi
    if [ "$left" -lt "$nap" ]; then nap=$left; fi
  fi
  sleep "$nap"
done 2>/dev/null
`;

/** The process behind every image of the process runtime: it idles, in a group of its own. */
export class IdleChild {
  private constructor(
    private readonly child: ChildProcess,
    readonly identity: ProcessIdentity,
  ) {}

  static async start(id: string, record: string, memoryMb: number): Promise<IdleChild> {
    const folder = dirname(record);
    const memory = String(memoryMb * 1024);
    const files = [deadlineFile(folder, id), aliveFile(folder)];
    const args = ['-c', SCRIPT, 'mooring-container', id, record, memory, ...files];
    const child = spawn('/bin/sh', args, {
      cwd: '/',
      // None of this process's environment is passed on.
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

  /** From here on the child checks its record by itself and outlives this process. */
  release(): void {
    this.child.stdin!.destroy();
    this.child.unref();
  }
}
