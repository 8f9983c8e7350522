import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** An api and a worker, as they are deployed, on a store of the benchmark's. */
export class BenchFleet {
  private constructor(
    readonly url: string,
    private readonly children: readonly ChildProcess[],
    private readonly folder: string,
  ) {}

  static async start(storeUrl: string): Promise<BenchFleet> {
    const folder = mkdtempSync(join(tmpdir(), 'mooring-bench-diagrams-'));
    const env = {
      PATH: process.env['PATH'],
      REDIS_URL: storeUrl,
      ARTIFACTS_URL: `file:${folder}`,
      LOG_LEVEL: 'warn',
      PORT: '0',
      DIAGRAM_WAIT: '60s',
    };
    const apps = await Promise.all(['api', 'worker'].map((name) => startApp(name, env)));
    return new BenchFleet(
      apps[0]!.url,
      apps.map(({ child }) => child),
      folder,
    );
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.children.map(async (child) => {
        const gone = once(child, 'exit');
        child.kill('SIGTERM');
        await gone;
      }),
    );
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function startApp(
  name: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const entry = fileURLToPath(new URL(`../../apps/${name}/src/main.js`, import.meta.url));
  const child = fork(entry, [], { env });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`The ${name} ended early.`)));
  ended.catch(() => undefined);
  for (;;) {
    const [message] = (await Promise.race([once(child, 'message'), ended])) as [
      { type?: string; url?: string },
    ];
    if (message.type === 'started') return { child, url: message.url! };
  }
}
