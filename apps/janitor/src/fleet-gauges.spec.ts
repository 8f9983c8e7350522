import type { JanitorTasks } from '#fleet';
import type { LoadReader, Quarantine, QueueReader, SweepBook, TrippedSweep } from '#nestjs';
import { Metrics, type Runtime } from '#runtime';
import type { LeaseRepository } from '#workloads/containers';
import { beforeEach, describe, expect, it } from 'vitest';
import { FleetGauges } from './fleet-gauges.js';

describe('the gauges of the fleet', () => {
  let metrics: Metrics;
  let trips: Record<string, TrippedSweep>;

  beforeEach(() => {
    metrics = new Metrics('test');
    trips = {};
  });

  function gauges(pastDue = 0): FleetGauges {
    const redis = { info: async () => 'used_memory:1\r\nmaxmemory:2\r\n' } as unknown as Runtime['redis'];
    const queues = { read: async () => [] } as unknown as QueueReader;
    const loads = { all: async () => [] } as unknown as LoadReader;
    const book = { trips: async () => trips } as unknown as SweepBook;
    const quarantine = { count: async () => 0 } as unknown as Quarantine;
    const tasks: JanitorTasks = { reconcilers: [], sweeps: [{ kind: 'leases', everyMs: 1 }] };
    const leases = { counts: async () => ({}), pastDue: async () => pastDue } as unknown as LeaseRepository;
    return new FleetGauges({ metrics, redis } as Runtime, queues, loads, book, quarantine, tasks, leases);
  }

  it.each([0, 3])('show 0 leases past due until they are counted, then their count: %i', async (count) => {
    const fleet = gauges(count);
    const shown = async (): Promise<number> =>
      (await metrics.registry.getSingleMetric('mooring_leases_past_due')!.get()).values[0]!.value;

    expect(await shown()).toBe(0);
    await fleet.update();
    expect(await shown()).toBe(count);
  });

  it('show a sweep as tripped while the store has it as tripped', async () => {
    const fleet = gauges();
    const tripped = async (): Promise<unknown[]> => {
      await fleet.update();
      const { values } = await metrics.registry.getSingleMetric('mooring_sweep_tripped')!.get();
      return values.filter(({ value }) => value === 1).map(({ labels }) => labels);
    };

    expect(await tripped()).toEqual([]);
    trips = { orphans: { at: '2026-01-01T00:00:00.000Z', sweepId: 's-1', why: 'too many' } };
    expect(await tripped()).toEqual([{ sweep: 'orphans' }]);
    trips = {};
    expect(await tripped()).toEqual([]);
  });
});
