import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isGone } from '../../../../../../test/support/is-gone.js';
import { root } from '../../../../../../test/support/process.js';
import { groupIsThere } from '../../../../../../test/support/processes.js';
import { until } from '../../../../../../test/support/until.js';
import type { Container } from '../container-engine.js';
import { IdleChild } from './idle-child.js';
import { ProcessEngine } from './process-engine.js';
import { identify } from './process-identity.js';
import type { ContainerRecord } from './registry.js';

const never = new AbortController().signal;
const spec = { name: 'lease-1', image: 'alpine', labels: { lease: '1' } };
const hasProc = existsSync('/proc/self/stat');

describe('the process runtime', () => {
  let folder: string;
  let engine: ProcessEngine;
  let bystander: ChildProcess | undefined;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mooring-processes-'));
    engine = new ProcessEngine(folder, 64);
  });

  afterEach(async () => {
    bystander?.kill('SIGKILL');
    bystander = undefined;
    for (const { id } of await engine.list('lease', never)) await engine.remove(id, never);
    expect(await readdir(folder)).toEqual([]);
    await rm(folder, { recursive: true });
  });

  const make = (): Promise<Container> => engine.create(spec, never);
  const recordOf = async (name = spec.name): Promise<ContainerRecord> =>
    JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8')) as ContainerRecord;
  const rewrite = async (change: Partial<ContainerRecord>): Promise<void> => {
    const record = { ...(await recordOf()), ...change };
    await writeFile(join(folder, `${record.name}.json`), `${JSON.stringify(record)}\n`);
  };

  it("starts one process per container, in its own group, without the engine's environment", async () => {
    await make();
    const { pid } = (await recordOf()).process;
    expect(pid).not.toBe(process.pid);
    if (!hasProc) return;
    const [stat, environment, limits] = await Promise.all(
      ['stat', 'environ', 'limits'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8')),
    );
    const [, , group, session] = stat!.slice(stat!.lastIndexOf(')') + 2).split(' ');
    expect([group, session]).toEqual([String(pid), String(pid)]);
    expect(environment).toBe('PATH=/usr/local/bin:/usr/bin:/bin\0');
    expect(limits).toMatch(/^Max core file size +0 /m);
    await until(async () => {
      const now = await readFile(`/proc/${pid}/limits`, 'utf8');
      return new RegExp(`^Max address space +${64 * 1024 * 1024} `, 'm').test(now);
    }, 'its memory is limited');
  });

  it('ends the whole group, also a process that ignores SIGTERM', async () => {
    const { id } = await make();
    const { pid } = (await recordOf()).process;
    process.kill(-pid, 'SIGSTOP');
    await engine.stop(id, never);
    expect(isGone(pid)).toBe(true);
    await until(() => !groupIsThere(pid), 'the group is gone');
  });

  it.each([
    ['started at another time', { startedAt: '1' }],
    ['of another boot', { machine: 'elsewhere' }],
  ])('never ends a process that has the pid of one %s', async (_, change) => {
    const { id } = await make();
    const { process: ours } = await recordOf();
    bystander = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
    await once(bystander, 'spawn');
    await rewrite({ process: { ...(await identify(bystander.pid!))!, ...change } });

    expect(await engine.find(id, never)).toMatchObject({ running: false });
    await engine.stop(id, never);
    await engine.remove(id, never);
    expect(isGone(bystander.pid!)).toBe(false);
    await endStray(ours.pid);
  });

  it.each(['free', 'taken'])(
    'leaves nothing of a process that never got its name, which is %s',
    async (how) => {
      if (how === 'taken') await make();
      const child = await IdleChild.start('lease-1.0123456789ab', join(folder, 'lease-1.json'), 64);
      const { pid } = child.identity;
      expect(isGone(pid)).toBe(false);
      child.release();
      await until(() => isGone(pid), 'it has ended by itself');
    },
  );

  it('leaves other files alone', async () => {
    await make();
    const strange = {
      'notes.txt': 'mine',
      'broken.json': '{"id":',
      'other.json': '{"id":"lease-1.0123456789ab"}',
      'lease-2.json': '{"id":"lease-2.0123456789ab","name":"lease-2"}',
    };
    for (const [name, text] of Object.entries(strange)) await writeFile(join(folder, name), text);
    await mkdir(join(folder, 'folder.json'));

    expect(await engine.list('lease', never)).toHaveLength(1);
    for (const [name, text] of Object.entries(strange)) {
      expect(await readFile(join(folder, name), 'utf8')).toBe(text);
      await rm(join(folder, name));
    }
    await rm(join(folder, 'folder.json'), { recursive: true });
  });

  it('has one place for all processes with the folder, and another for other folders on the machine', async () => {
    const place = await engine.place();
    expect(place).toMatch(/^[0-9a-f]{16}$/);
    expect(await new ProcessEngine(folder, 64).place()).toBe(place);
    const elsewhere = await mkdtemp(join(tmpdir(), 'mooring-processes-'));
    expect(await new ProcessEngine(elsewhere, 64).place()).not.toBe(place);
    await rm(elsewhere, { recursive: true });
    expect(await engine.list('lease', never)).toEqual([]);
    await rm(folder, { recursive: true });
    expect(await engine.place()).toBe(place);
    expect(await readdir(folder)).toEqual(['place']);
    expect(await new ProcessEngine(folder, 64).place()).toBe(place);
    await rm(join(folder, 'place'));
  });

  it('removes the draft of a dead process, and no other', async () => {
    const [old, fresh] = [join(folder, '.lease-2.0123456789ab'), join(folder, '.lease-3.0123456789ab')];
    for (const draft of [old, fresh]) await writeFile(draft, '');
    const twoMinutesAgo = Date.now() / 1_000 - 120;
    await utimes(old, twoMinutesAgo, twoMinutesAgo);
    await engine.list('lease', never);
    expect(await readdir(folder)).toEqual(['.lease-3.0123456789ab']);
    await rm(fresh);
  });

  it.each(['../lease', 'a/b', '.hidden', '', 'a b', 'x'.repeat(300)])(
    'has no container by the name of %j',
    async (name) => {
      await expect(engine.create({ ...spec, name }, never)).rejects.toThrow('is no name for a container');
      expect(await engine.named(name, never)).toBeUndefined();
    },
  );

  it('keeps a container for other processes when the one that started it is killed', async () => {
    const maker = startMaker(folder, 1);
    await once(maker, 'message');
    maker.kill('SIGKILL');
    await once(maker, 'exit');
    expect(await engine.list('lease', never)).toMatchObject([{ name: 'made-0', running: true }]);
  });

  it('has no process outside the registry, whenever a starting process is killed', async () => {
    for (const afterMs of [0, 3, 6, 9, 12, 15, 20, 30]) {
      const maker = startMaker(folder, 30);
      await once(maker, 'message');
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      maker.kill('SIGKILL');
      await once(maker, 'exit');

      await until(async () => {
        const known = new Set<number>();
        for (const { name, running } of await engine.list('lease', never))
          if (running) known.add((await recordOf(name)).process.pid);
        return (await processesOf(folder)).every((pid) => known.has(pid));
      }, 'each process is in the registry');
      for (const { id, running } of await engine.list('lease', never)) {
        expect(running).toBe(true);
        await engine.remove(id, never);
      }
      expect(await processesOf(folder)).toEqual([]);
      // A draft of the killed process is removed later.
      for (const draft of await readdir(folder)) await rm(join(folder, draft));
    }
  });
});

/** Starts a process that starts containers in sequence and announces the first. */
function startMaker(folder: string, count: number): ChildProcess {
  const engine = join(root, 'dist/libs/workloads/containers/src/engines/process/process-engine.js');
  const script = `
    const { ProcessEngine } = await import(${JSON.stringify(engine)});
    const engine = new ProcessEngine(${JSON.stringify(folder)}, 64);
    for (let i = 0; i < ${count}; i += 1) {
      const spec = { name: 'made-' + i, image: 'alpine', labels: { lease: String(i) } };
      await engine.create(spec, new AbortController().signal);
      if (i === 0) process.send('started');
    }`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

/** The idle processes started for this folder, registered or not. */
async function processesOf(folder: string): Promise<number[]> {
  const ps = spawn('ps', ['-A', '-o', 'pid=,stat=,args='], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  ps.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
  await once(ps, 'close');
  return said
    .split('\n')
    .filter((line) => line.includes('mooring-container') && line.includes(folder))
    .filter((line) => !/^\s*\d+\s+[ZX]/.test(line))
    .map((line) => Number.parseInt(line, 10));
}

async function endStray(pid: number): Promise<void> {
  process.kill(-pid, 'SIGKILL');
  await until(() => isGone(pid), 'the process that the test misled us about has ended');
}
