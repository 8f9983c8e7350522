import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { isGone } from '../support/is-gone.js';
import { LeaseCaller, type LeaseView } from '../support/leases.js';
import { until } from '../support/until.js';

/** Its files hold whole seconds of this machine's clock. */
const EARLY_MS = 500;
const LATE_MS = 2_500;

/** On the process runtime, a leased process keeps its deadline even if the whole fleet is killed. */
describe('a leased process whose fleet is dead', () => {
  let fleet: Fleet;
  let leases: LeaseCaller;
  beforeEach(async () => {
    fleet = await Fleet.start({ workers: 1, janitor: true });
    leases = new LeaseCaller(fleet);
  });
  afterEach(() => fleet.stop());

  it('ends by itself at its deadline, not before', async () => {
    const running = await Promise.all(Array.from({ length: 6 }, () => leases.askRunning('15s')));
    const pids = await Promise.all(running.map(pidOf));
    await killFleet();

    const endsAt = Math.min(...running.map(({ expiresAt }) => Date.parse(expiresAt)));
    expect(await untilOneIsGone(pids)).toBeGreaterThan(endsAt - EARLY_MS);
    await until(() => pids.every(isGone), 'all are gone');
  });

  it('ends at the deadline of a renewal made while the fleet was alive', async () => {
    const lease = await leases.askRunning('10s');
    const pid = await pidOf(lease);
    await leases.renew(lease.id, '20s');
    const renewed = await leases.read(lease.id);
    await until(
      async () => (await deadlineOf(renewed)) * 1_000 >= Date.parse(renewed.expiresAt) - 1_000,
      'it was told of the renewal',
    );
    await killFleet();

    expect(await untilOneIsGone([pid])).toBeGreaterThan(Date.parse(renewed.expiresAt) - EARLY_MS);
  });

  it('runs on while the fleet is alive if it was renewed shortly before its end', async () => {
    const lease = await leases.askRunning('10s');
    const pid = await pidOf(lease);
    const endsAt = Date.parse(lease.expiresAt);
    await until(() => Date.now() > endsAt - 4_000, 'it ends soon');
    expect(await leases.renew(lease.id, '30s')).toMatchObject({ status: 200 });
    await until(() => Date.now() > endsAt + LATE_MS, 'its first deadline is over');
    expect(isGone(pid)).toBe(false);
    expect((await leases.read(lease.id)).state).toBe('running');
    await leases.delete(lease.id);
    await leases.untilState(lease.id, 'ended');
  });

  async function killFleet(): Promise<void> {
    for (const process of fleet.processes) process.kill('SIGKILL');
    await Promise.all(fleet.processes.map(({ exited }) => exited));
  }

  async function pidOf({ id }: LeaseView): Promise<number> {
    const text = await readFile(join(fleet.containers, `${leases.nameOf(id)}.json`), 'utf8');
    return (JSON.parse(text) as { process: { pid: number } }).process.pid;
  }

  async function deadlineOf({ containerId }: LeaseView): Promise<number> {
    return Number(await readFile(join(fleet.containers, `${containerId}.deadline`), 'utf8'));
  }

  /** When the first process was seen to be gone. A stalled machine sees it later, never sooner. */
  async function untilOneIsGone(pids: readonly number[]): Promise<number> {
    await until(() => pids.some(isGone), 'one is gone', 60_000);
    return Date.now();
  }
});
