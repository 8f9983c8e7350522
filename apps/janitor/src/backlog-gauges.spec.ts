import { Metrics, type Runtime } from '#runtime';
import { expect, it } from 'vitest';
import { BacklogGauges } from './backlog-gauges.js';

it('shows 0 until a counter is registered, then its count', async () => {
  const metrics = new Metrics('test');
  const gauges = new BacklogGauges({ metrics } as Runtime);
  const shown = async (name: string): Promise<number> =>
    (await metrics.registry.getSingleMetric(name)!.get()).values[0]!.value;

  await gauges.update();
  expect(await shown('mooring_leases_past_due')).toBe(0);

  let count = 3;
  gauges.countBy('leases', async () => count);
  await gauges.update();
  expect(await shown('mooring_leases_past_due')).toBe(3);
  expect(await shown('mooring_jobs_quarantined')).toBe(0);

  count = 0;
  await gauges.update();
  expect(await shown('mooring_leases_past_due')).toBe(0);
});
