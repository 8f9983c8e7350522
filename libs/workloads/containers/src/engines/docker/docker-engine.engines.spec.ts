import Docker from 'dockerode';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { RealEngine } from '../../../../../../test/support/real-engines.js';
import { until } from '../../../../../../test/support/until.js';
import { EngineUnavailable, NoSuchImage, type Container } from '../container-engine.js';
import { DockerEngine } from './docker-engine.js';

const CAPS = { memoryMb: 64, cpus: 0.5, pids: 32 };
const MB = 1024 * 1024;
const CALL_MS = 3_000;
const never = new AbortController().signal;
const labels = { 'test.real': `${process.pid}` };

describe.each(RealEngine.all())('$name', (real) => {
  let engine: DockerEngine;
  let docker: Docker;
  let count = 0;

  beforeAll(() => {
    engine = new DockerEngine(real.host, CAPS);
    docker = new Docker({ socketPath: real.host.slice('unix://'.length) });
  });

  afterEach(async () => {
    for (const { id } of await engine.list('test.real', never)) await engine.remove(id, never);
  });

  const make = (name = `real-${process.pid}-${(count += 1)}`, image = 'busybox'): Promise<Container> =>
    engine.create({ name, image, labels }, never);

  /** Reads a file of the container's first process. */
  const fileOf = async ({ id }: Container, file: string): Promise<string> => {
    const { State } = await docker.getContainer(id).inspect();
    return readFile(`/proc/${State.Pid}/${file}`, 'utf8');
  };

  it('holds a container to its limits', async () => {
    const made = await make();
    const groups = await fileOf(made, 'cgroup');
    expect(await limitOf(groups, 'memory', ['memory.limit_in_bytes', 'memory.max'])).toBe(String(64 * MB));
    expect(await limitOf(groups, 'pids', ['pids.max'])).toBe('32');
    expect(await limitOf(groups, 'cpu', ['cpu.cfs_quota_us', 'cpu.max'])).toMatch(/^50000\b/);
    const limits = await fileOf(made, 'limits');
    expect(limits).toMatch(/^Max open files +1024 +1024 /m);
    expect(limits).toMatch(/^Max processes +4096 +4096 /m);
  });

  it('gives a container no privileges, no network and no host resources', async () => {
    const made = await make();
    const status = await fileOf(made, 'status');
    for (const set of ['CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
      expect(status).toMatch(new RegExp(`^${set}:\\s+0{16}$`, 'm'));
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);

    const [, , ...devices] = (await fileOf(made, 'net/dev')).trim().split('\n');
    expect(devices.map((line) => line.trim().split(':')[0])).toEqual(['lo']);

    const mounts = (await fileOf(made, 'mounts')).split('\n').map((line) => line.split(' '));
    const writable = mounts.filter(([, , , options]) => options?.split(',').includes('rw'));
    expect(writable.map(([, point]) => point)).toContain('/tmp');
    const onDisk = writable.filter(([, , type]) => /^(ext\d|xfs|btrfs|overlay|zfs|nfs\d?)$/.test(type!));
    // Paths that the engine itself mounts.
    const its = new Set(['/etc/hosts', '/etc/hostname', '/etc/resolv.conf', '/run/.containerenv']);
    expect(onDisk.map(([, point]) => point).filter((point) => !its.has(point!))).toEqual([]);
  });

  it('names a missing image', async () => {
    await expect(make('real-missing', 'mooring-has-none:1')).rejects.toThrow(NoSuchImage);
    await expect(make('real-missing', 'mooring-has-none:1')).rejects.toThrow(
      'The engine has no image "mooring-has-none:1", and none is pulled. Run: docker pull mooring-has-none:1',
    );
    expect(await engine.named('real-missing', never)).toBeUndefined();
  });

  it('leaves nothing of an image that cannot run the idle command', async () => {
    await expect(make('real-bare', 'bare')).rejects.toThrow(
      new NoSuchImage('The image "bare" cannot be kept idle: it has no `tail`.'),
    );
    expect(await engine.named('real-bare', never)).toBeUndefined();
  });

  it('leaves containers with other labels alone', async () => {
    const command = { Entrypoint: ['tail', '-f', '/dev/null'], Cmd: [], StopSignal: 'SIGKILL' };
    const theirs = await docker.createContainer({
      name: `theirs-${process.pid}`,
      Image: 'busybox',
      ...command,
      HostConfig: { NetworkMode: 'none' },
    });
    try {
      await theirs.start();
      const ours = await make();
      await engine.stop(ours.id, never);
      await engine.remove(ours.id, never);
      expect(await make(`theirs-${process.pid}`)).toMatchObject({ id: theirs.id, running: true });
      expect(await engine.list('test.real', never)).toEqual([]);
      expect((await theirs.inspect()).State.Running).toBe(true);
    } finally {
      await theirs.remove({ force: true });
    }
  });

  it('runs the same containers after a restart', async () => {
    const made = await make();
    await real.restart();
    expect(await engine.find(made.id, never)).toEqual(made);
    expect(await engine.list('test.real', never)).toEqual([made]);
    await engine.stop(made.id, never);
    expect(await engine.find(made.id, never)).toEqual({ ...made, running: false });
  });

  it('is abandoned while it hangs, and has one container afterwards', async () => {
    const hasty = new DockerEngine(real.host, CAPS, CALL_MS);
    const name = `real-frozen-${process.pid}`;
    await real.freeze();
    try {
      const began = performance.now();
      const calls = [
        hasty.create({ name, image: 'busybox', labels }, never),
        hasty.list('test.real', never),
        hasty.stop('a'.repeat(64), never),
      ].map((call) => call.catch((error: unknown) => error));
      for (const outcome of await Promise.all(calls)) expect(outcome).toBeInstanceOf(EngineUnavailable);
      expect(performance.now() - began).toBeLessThan(4 * CALL_MS);
    } finally {
      await real.thaw();
    }
    // The engine may still carry out a call it received while it hung.
    const made = await until(() => make(name), 'it is made');
    expect(await engine.list('test.real', never)).toEqual([made]);
    expect(made.running).toBe(true);
  });
});

/** Reads a limit of a control group, version 1 or 2. */
async function limitOf(groups: string, controller: string, files: readonly string[]): Promise<string> {
  const places = groups
    .trim()
    .split('\n')
    .map((line) => line.split(':') as [string, string, string])
    .filter(([, names]) => names === '' || names.split(',').includes(controller))
    .flatMap(([, names, path]) => {
      const roots = names === '' ? ['', 'unified'] : [names, controller];
      return roots.flatMap((root) => files.map((file) => `/sys/fs/cgroup/${root}${path}/${file}`));
    });
  const place = places.find((each) => existsSync(each));
  return (await readFile(place!, 'utf8')).trim();
}
