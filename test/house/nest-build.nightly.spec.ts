import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { root, TestProcess } from '../support/process.js';
import { until } from '../support/until.js';

const SOURCES = [
  'apps',
  'libs',
  'bench',
  'package.json',
  'nest-cli.json',
  'tsconfig.json',
  'tsconfig.build.json',
];

/** In a folder of its own, so that the build that other tests use stays as it is. */
describe('a build by the Nest CLI', () => {
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  const started: TestProcess[] = [];
  let folder: string;
  let built: { status: number | null; said: string };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mooring-nest-build-'));
    for (const name of SOURCES) await cp(join(root, name), join(folder, name), { recursive: true });
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    const nest = join(root, 'node_modules/@nestjs/cli/bin/nest.js');
    const { status, stdout, stderr } = spawnSync(process.execPath, [nest, 'build', 'api'], {
      cwd: folder,
      encoding: 'utf8',
    });
    built = { status, said: stdout + stderr };
  }, 180_000);

  afterAll(async () => {
    for (const process of started) process.kill('SIGTERM');
    await Promise.all(started.map(({ exited }) => exited));
    const redis = new Redis(inject('storeUrl'));
    for await (const keys of redis.scanStream({ match: `*${prefix}*`, count: 1_000 })) {
      if (keys.length > 0) await redis.unlink(...keys);
    }
    await redis.quit();
    await rm(folder, { recursive: true });
  });

  it('contains every file that an app reads next to its code', async () => {
    expect(built).toEqual({ status: 0, said: expect.any(String) });
    const assets = await assetsBelow('libs');
    expect(assets.length).toBeGreaterThan(50);
    expect(await assetsBelow('dist/libs')).toEqual(assets);
  });

  it('contains the core where libs/partitions looks for it', () => {
    const program = `import('./dist/libs/partitions/src/index.js').then(({ Owners }) => console.log(Owners.name))`;
    const { stdout, stderr } = spawnSync(process.execPath, ['-e', program], {
      cwd: folder,
      encoding: 'utf8',
    });

    expect({ stdout, stderr }).toEqual({ stdout: 'PartitionedOwners\n', stderr: '' });
  });

  it('starts, accepts a job and runs it', async () => {
    const [api, worker] = [start('api'), start('worker')];
    for (const each of [api, worker]) await untilReady(each);
    const jobs = `${api.url}/v1/jobs`;
    const answer = await fetch(jobs, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'probe', owners: ['trip:1'], payload: { ms: 1 } }),
    });
    expect(answer.status).toBe(201);
    const { id } = (await answer.json()) as { id: string };
    await until(async () => {
      const job = (await (await fetch(`${jobs}/${id}`)).json()) as { state: string };
      return job.state === 'completed';
    }, 'it is completed');
  });

  async function assetsBelow(path: string): Promise<string[]> {
    const files = await readdir(join(folder, path), { recursive: true });
    return files.filter((file) => /\.(lua|html|txt)$/.test(file)).toSorted();
  }

  function start(app: string): TestProcess {
    const { PATH, HOME, TMPDIR } = process.env;
    const ours = { REDIS_URL: inject('storeUrl'), MOORING_PREFIX: prefix, LOG_FORMAT: 'json', PORT: '0' };
    const env = { PATH, HOME, TMPDIR, ...ours };
    const entry = join(folder, `dist/apps/${app}/src/main.js`);
    const stdio: ['ignore', 'pipe', 'pipe', 'ipc'] = ['ignore', 'pipe', 'pipe', 'ipc'];
    const child = new TestProcess(spawn(process.execPath, [entry], { env, stdio, cwd: folder }));
    started.push(child);
    return child;
  }

  async function untilReady(child: TestProcess): Promise<void> {
    await until(async () => {
      if (child.hasExited) throw new Error(`It ended: ${child.output}`);
      return child.url !== undefined && (await fetch(`${child.url}/readyz`)).ok;
    }, 'it is ready');
  }
});
