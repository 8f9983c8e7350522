import { describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';

describe('a process whose output pipes are closed', () => {
  it('still ends when it is told to', async () => {
    const fleet = await Fleet.start({ workers: 1, janitor: true, env: { SHUTDOWN_TIMEOUT: '3s' } });
    for (const { child } of fleet.processes) {
      child.stdout?.destroy();
      child.stderr?.destroy();
    }
    await fleet.probe({ failTimes: 1 });
    await fleet.stop();
    expect(fleet.processes.map(({ child }) => child.exitCode)).toEqual([0, 0, 0]);
  });
});
