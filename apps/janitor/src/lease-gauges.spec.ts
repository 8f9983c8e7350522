import type { JanitorTasks } from '#fleet';
import { Metrics, type Runtime } from '#runtime';
import type { LeaseRepository } from '#workloads/containers';
import { expect, it } from 'vitest';
import { LeaseGauges } from './lease-gauges.js';

it.each([0, 3])('shows 0 leases past due until they are counted, then their count: %i', async (count) => {
  const metrics = new Metrics('test');
  const repository = { counts: async () => ({}), pastDue: async () => count } as unknown as LeaseRepository;
  const tasks: JanitorTasks = { reconcilers: [], sweeps: [{ kind: 'leases', everyMs: 1 }] };
  const gauges = new LeaseGauges(tasks, { metrics } as Runtime, repository);
  const shown = async (): Promise<number> =>
    (await metrics.registry.getSingleMetric('mooring_leases_past_due')!.get()).values[0]!.value;

  expect(await shown()).toBe(0);
  await gauges.update();
  expect(await shown()).toBe(count);
});
