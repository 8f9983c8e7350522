import type { SweepBook, TrippedSweep } from '#nestjs';
import { Metrics, type Runtime } from '#runtime';
import { expect, it } from 'vitest';
import { TrippedSweepGauges } from './tripped-sweep-gauges.js';

it('shows a sweep as tripped while the store says so', async () => {
  const metrics = new Metrics('test');
  let trips: Record<string, TrippedSweep> = {};
  const gauges = new TrippedSweepGauges(
    { trips: async () => trips } as unknown as SweepBook,
    { metrics } as Runtime,
  );
  const tripped = async (): Promise<unknown[]> => {
    await gauges.update();
    const { values } = await metrics.registry.getSingleMetric('mooring_sweep_tripped')!.get();
    return values.filter(({ value }) => value === 1).map(({ labels }) => labels);
  };

  expect(await tripped()).toEqual([]);
  trips = { orphans: { at: '2026-01-01T00:00:00.000Z', sweepId: 's-1', why: 'too many' } };
  expect(await tripped()).toEqual([{ sweep: 'orphans' }]);
  trips = {};
  expect(await tripped()).toEqual([]);
});
