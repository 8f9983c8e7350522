import Docker from 'dockerode';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FakeDocker } from '../../../../../test/support/fake-docker.js';
import { until } from '../../../../../test/support/until.js';
import type { Container, ContainerEngine } from './container-engine.js';
import { openEngine } from './open-engine.js';

/** An engine, and control over it from outside. */
interface Bench {
  readonly open: () => ContainerEngine;
  /** Leaves a container unstarted, as a crash does; absent where that cannot happen. */
  readonly leaveUnstarted?: (name: string, labels: Record<string, string>) => Promise<void>;
  /** Lets a container end by itself. */
  readonly end: (container: Container) => Promise<void>;
  readonly close: () => Promise<void>;
}

const CAPS = { memoryMb: 64, cpus: 0.5, pids: 32 };
const IMAGE = 'busybox';
const never = new AbortController().signal;

/**
 * Engines named in the environment are real (`npm run test:engines`); otherwise the process runtime and a
 * fake daemon in both dialects.
 */
const benches: Record<string, () => Promise<Bench>> = process.env['TEST_DOCKER_HOSTS']
  ? Object.fromEntries(
      Object.entries(JSON.parse(process.env['TEST_DOCKER_HOSTS']) as Record<string, string>).map(
        ([name, host]) => [name, () => dockerBench(host)],
      ),
    )
  : {
      'process runtime': processBench,
      'fake docker': () => fakeBench('docker'),
      'fake podman': () => fakeBench('podman'),
    };

describe.each(Object.entries(benches))('%s', (_, openBench) => {
  const mark = `contract-${process.pid}-${Date.now()}`;
  let bench: Bench;
  let engine: ContainerEngine;
  let count = 0;

  beforeAll(async () => {
    bench = await openBench();
    engine = bench.open();
  });

  afterEach(async () => {
    for (const { id } of await engine.list('test.mark', never)) await engine.remove(id, never);
    expect(await engine.list('test.mark', never)).toEqual([]);
  });

  afterAll(async () => {
    await bench.close();
  });

  const aName = (): string => `${mark}-${(count += 1)}`;
  const labelsOf = (more: Record<string, string> = {}): Record<string, string> => ({
    'test.mark': mark,
    ...more,
  });
  const make = (name = aName(), more: Record<string, string> = {}): Promise<Container> =>
    engine.create({ name, image: IMAGE, labels: labelsOf(more) }, never);

  it('starts a container that can be found by id, name and labels', async () => {
    const [name, before] = [aName(), Date.now()];
    const made = await make(name, { 'lease.id': 'a=b' });

    expect(made).toMatchObject({ name, running: true, labels: labelsOf({ 'lease.id': 'a=b' }) });
    // Some engines report whole seconds.
    expect(made.createdAt).toBeGreaterThan(before - 1_500);
    expect(made.createdAt).toBeLessThanOrEqual(Date.now());
    expect(await engine.find(made.id, never)).toEqual(made);
    expect(await engine.named(name, never)).toEqual(made);
    expect(await engine.list('lease.id', never)).toEqual([made]);
    expect(await engine.list('lease.id=a=b', never)).toEqual([made]);
    expect(await engine.list('lease.id=a', never)).toEqual([]);
    expect(await engine.list('lease', never)).toEqual([]);
  });

  it('keeps a container running for every client', async () => {
    const { id } = await make();
    const other = bench.open();
    const deadline = Date.now() + 500;
    await until(async () => {
      expect(await other.find(id, never)).toMatchObject({ running: true });
      return Date.now() > deadline;
    }, 'it ran for a while');
    await other.remove(id, never);
    expect(await engine.find(id, never)).toBeUndefined();
  });

  it('creates one container per name, also for concurrent and repeated calls', async () => {
    const name = aName();
    const made = await Promise.all(Array.from({ length: 8 }, () => make(name)));
    expect(new Set([...made, await make(name)].map(({ id }) => id)).size).toBe(1);
    expect(await engine.list('test.mark', never)).toMatchObject([{ name, running: true }]);
  });

  it('returns another program’s container of that name unchanged', async () => {
    const name = aName();
    const theirs = await make(name, { whose: 'theirs' });
    expect(await make(name, { whose: 'ours' })).toEqual(theirs);
  });

  it('starts its own unstarted container, but not another program’s', async ({ skip }) => {
    const { leaveUnstarted } = bench;
    if (!leaveUnstarted) return skip();
    const [ours, theirs] = [aName(), aName()];
    await leaveUnstarted(ours, labelsOf());
    await leaveUnstarted(theirs, labelsOf({ whose: 'theirs' }));

    expect(await engine.named(ours, never)).toMatchObject({ running: false });
    expect(await make(ours)).toMatchObject({ running: true });
    expect(await make(theirs, { whose: 'ours' })).toMatchObject({ running: false });
    expect(await engine.list('test.mark', never)).toHaveLength(2);
  });

  it('stops a container, once and again', async () => {
    const made = await make();
    const beside = await make();
    await engine.stop(made.id, never);
    await engine.stop(made.id, never);
    expect(await engine.find(made.id, never)).toEqual({ ...made, running: false });
    expect(await engine.list('test.mark', never)).toHaveLength(2);
    expect(await engine.find(beside.id, never)).toEqual(beside);
  });

  it('removes a container, stopped or not, once and again', async () => {
    const [running, stopped] = [await make(), await make()];
    await engine.stop(stopped.id, never);
    for (const { id, name } of [running, stopped, running]) {
      await engine.remove(id, never);
      expect(await engine.find(id, never)).toBeUndefined();
      expect(await engine.named(name, never)).toBeUndefined();
    }
    await engine.stop(running.id, never);
  });

  it('removes a container that two clients remove at once', async () => {
    const { id } = await make();
    await Promise.all([engine.remove(id, never), engine.remove(id, never), engine.stop(id, never)]);
    expect(await engine.find(id, never)).toBeUndefined();
  });

  it('frees a name for the next container, which a late removal of the last one does not touch', async () => {
    const name = aName();
    const last = await make(name);
    await engine.remove(last.id, never);
    const next = await make(name);
    expect(next.id).not.toBe(last.id);
    await engine.stop(last.id, never);
    await engine.remove(last.id, never);
    expect(await engine.named(name, never)).toEqual(next);
  });

  it('reports a container that ended by itself, and does not restart it', async () => {
    const made = await make();
    await bench.end(made);
    await until(async () => !(await engine.find(made.id, never))?.running, 'it has ended');
    expect(await engine.list('test.mark', never)).toEqual([{ ...made, running: false }]);
    expect(await make(made.name)).toEqual({ ...made, running: false });
    await engine.stop(made.id, never);
  });

  it('treats neither a name nor an id prefix as an id', async () => {
    const made = await make();
    for (const wrong of [made.name, made.id.slice(0, 12), made.id.slice(0, -1), '', '..', '../json', '*']) {
      expect(await engine.find(wrong, never)).toBeUndefined();
      await engine.stop(wrong, never);
      await engine.remove(wrong, never);
    }
    for (const wrong of [made.id, made.name.slice(0, -1), made.id.slice(0, 12)])
      expect(await engine.named(wrong, never)).toBeUndefined();
    expect(await engine.find(made.id, never)).toEqual(made);
  });

  it('does nothing for an aborted signal', async () => {
    const made = await make();
    const reason = new Error('enough');
    const gone = AbortSignal.abort(reason);
    const spec = { name: aName(), image: IMAGE, labels: labelsOf() };
    const calls = [
      () => engine.create(spec, gone),
      () => engine.find(made.id, gone),
      () => engine.named(made.name, gone),
      () => engine.list('test.mark', gone),
      () => engine.stop(made.id, gone),
      () => engine.remove(made.id, gone),
    ];
    for (const call of calls) await expect((async () => call())()).rejects.toBe(reason);
    expect(await engine.list('test.mark', never)).toEqual([made]);
  });
});

async function processBench(): Promise<Bench> {
  const folder = await mkdtemp(join(tmpdir(), 'mooring-engine-'));
  return {
    open: () => openEngine({ folder, ...CAPS }),
    end: async ({ name }) => {
      const record = JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8')) as {
        process: { pid: number };
      };
      process.kill(-record.process.pid, 'SIGKILL');
    },
    close: () => rm(folder, { recursive: true }),
  };
}

async function fakeBench(flavour: 'docker' | 'podman'): Promise<Bench> {
  const fake = await FakeDocker.start(flavour);
  return { ...(await dockerBench(fake.host)), close: () => fake.stop() };
}

async function dockerBench(dockerHost: string): Promise<Bench> {
  const docker = new Docker({ socketPath: dockerHost.slice('unix://'.length) });
  return {
    open: () => openEngine({ dockerHost, folder: '/nowhere', ...CAPS }),
    leaveUnstarted: async (name, Labels) => {
      const command = { Entrypoint: ['tail', '-f', '/dev/null'], Cmd: [] };
      const Ulimits = ['nofile', 'nproc'].map((Name) => ({ Name, Soft: 1_024, Hard: 1_024 }));
      const HostConfig = { NetworkMode: 'none', Ulimits };
      await docker.createContainer({ name, Image: IMAGE, Labels, HostConfig, ...command });
    },
    end: async ({ id }) => void (await docker.getContainer(id).kill()),
    close: async () => undefined,
  };
}
