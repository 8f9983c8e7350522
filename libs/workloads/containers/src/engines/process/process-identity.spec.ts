import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { until } from '../../../../../../test/support/until.js';
import { identify, isRunning, startFromPs } from './process-identity.js';

describe('the identity of a process', () => {
  it('is stable while it runs', async () => {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    await once(child, 'spawn');
    const identity = (await identify(child.pid!))!;
    expect(await identify(child.pid!)).toEqual(identity);
    expect(await isRunning(identity)).toBe(true);
    for (const change of [{ startedAt: '1' }, { machine: 'elsewhere' }, { pid: process.pid }])
      expect(await isRunning({ ...identity, ...change })).toBe(false);

    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await isRunning(identity)).toBe(false);
    expect(await identify(child.pid!)).toBeUndefined();
  });

  it('comes from ps where there is no /proc', async () => {
    const mine = await startFromPs(process.pid);
    expect(Number.isNaN(Date.parse(mine!))).toBe(false);
    expect(await startFromPs(process.pid)).toBe(mine);
    expect(await startFromPs(2 ** 22 + 1)).toBeUndefined();
  });

  it('is undefined for a process that has ended but is not reaped', async () => {
    const parent = spawn('sh', ['-c', 'sleep 0.05 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      const [said] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(said.toString());
      await until(async () => (await identify(pid)) === undefined, 'it has ended');
      expect(await startFromPs(pid)).toBeUndefined();
    } finally {
      parent.kill('SIGKILL');
    }
  });
});
