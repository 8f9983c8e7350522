import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from './process.js';

const FETCHED = join(root, 'node_modules/.cache/prometheus');
const SECONDS = 1_000;

export interface Checked {
  readonly ok: boolean;
  readonly said: string;
}

/** The checker of Prometheus. */
export class Promtool {
  private constructor(private readonly program: string) {}

  /** The promtool on the PATH; otherwise Debian's, unpacked without an installation. */
  static async find(): Promise<Promtool> {
    const fetched = join(FETCHED, 'usr/bin/promtool');
    for (const program of ['promtool', fetched]) if (answers(program)) return new Promtool(program);
    const said = await fetchInto(FETCHED);
    if (existsSync(fetched) && answers(fetched)) return new Promtool(fetched);
    throw new Error(
      'There is no promtool, which checks the alerts and the metrics. Put one on the PATH: on Debian and Ubuntu ' +
        `\`apt-get install --no-install-recommends prometheus\`, elsewhere from https://prometheus.io/download. ${said}`,
    );
  }

  check(args: readonly string[], input = ''): Checked {
    const { status, stdout, stderr } = spawnSync(this.program, args, { input, encoding: 'utf8' });
    return { ok: status === 0, said: `${stdout}${stderr}` };
  }
}

function answers(program: string): boolean {
  return spawnSync(program, ['--version']).status === 0;
}

async function fetchInto(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const script =
    'apt-get update -qq; apt-get download -qq prometheus && dpkg -x prometheus_*.deb . && rm prometheus_*.deb';
  const { error, stdout, stderr } = spawnSync('sh', ['-c', script], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 300 * SECONDS,
  });
  return error?.message ?? `${stdout}${stderr}`.trim();
}
