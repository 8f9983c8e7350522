import { Metrics, type Runtime } from '#runtime';
import { beforeEach, describe, expect, it } from 'vitest';
import { SweepMetrics } from './sweep-metrics.js';

const counts = {
  seen: 9,
  removed: 2,
  kept: 3,
  unknown: 0,
  failed: 2,
  healed: 0,
  jobs: 4,
  tookMs: 80,
  worstStallMs: 25,
};
const orphans = { event: 'sweep.done', sweep: 'orphans', sweepId: 's-1', ...counts, dryRun: false };

describe('SweepMetrics', () => {
  let metrics: Metrics;
  let sweeps: SweepMetrics;
  beforeEach(() => {
    metrics = new Metrics('test');
    sweeps = new SweepMetrics({ metrics } as Runtime);
  });

  it('initialises all series before the first sweep', async () => {
    expect(await valueOf('mooring_cleanup_failures_total', { sweep: 'artifacts' })).toBe(0);
    expect(await valueOf('mooring_sweeps_total', { sweep: 'leases', outcome: 'failed' })).toBe(0);
    expect(await valueOf('mooring_sweep_timestamp_seconds', { sweep: 'orphans' })).toBe(0);
  });

  it('counts sweeps and shows when the last one ended', async () => {
    const before = Date.now() / 1_000;
    sweeps.record(orphans);
    sweeps.record({ ...orphans, event: 'sweep.stopped' });
    expect(await valueOf('mooring_sweeps_total', { sweep: 'orphans', outcome: 'done' })).toBe(1);
    expect(await valueOf('mooring_sweeps_total', { sweep: 'orphans', outcome: 'stopped' })).toBe(1);
    expect(await valueOf('mooring_sweep_timestamp_seconds', { sweep: 'orphans' })).toBeGreaterThanOrEqual(
      before,
    );
    expect(await valueOf('mooring_sweep_worst_stall_seconds', { sweep: 'orphans' })).toBe(0.025);
  });

  it('adds up removed orphans and shows how many the last sweep found', async () => {
    sweeps.record(orphans);
    sweeps.record({ ...orphans, jobs: 1 });
    sweeps.record({ ...orphans, sweep: 'retention', jobs: 1_000 });
    sweeps.record({ ...orphans, event: 'sweep.tripped', jobs: 0 });
    expect(await valueOf('mooring_orphaned_jobs_removed_total')).toBe(5);
    expect(await valueOf('mooring_orphaned_jobs_found')).toBe(1);
  });

  it('adds up what could not be removed', async () => {
    sweeps.record(orphans);
    sweeps.record(orphans);
    expect(await valueOf('mooring_cleanup_failures_total', { sweep: 'orphans' })).toBe(4);
    expect(await valueOf('mooring_cleanup_failures_total', { sweep: 'retention' })).toBe(0);
  });

  it('counts the work of a sweep once, even if it was stopped and resumed', async () => {
    sweeps.record({ ...orphans, event: 'sweep.stopped', jobs: 3, failed: 1 });
    expect(await valueOf('mooring_sweep_timestamp_seconds', { sweep: 'orphans' })).toBe(0);
    sweeps.record({ ...orphans, event: 'sweep.stopped', jobs: 3, failed: 1 });
    sweeps.record(orphans);
    expect(await valueOf('mooring_orphaned_jobs_removed_total')).toBe(4);
    expect(await valueOf('mooring_cleanup_failures_total', { sweep: 'orphans' })).toBe(2);
    expect(await valueOf('mooring_sweeps_total', { sweep: 'orphans', outcome: 'stopped' })).toBe(2);
  });

  it('shows what sweeps that delete artifacts could not delete', async () => {
    for (const sweep of ['retention', 'artifacts', 'orphans']) sweeps.record({ ...orphans, sweep });
    sweeps.record({ ...orphans, sweep: 'retention', failed: 1, waiting: 4 });
    const { values } = (await metrics.registry
      .getSingleMetric('mooring_artifacts_awaiting_deletion')!
      .get()) as {
      values: { value: number; labels: object }[];
    };
    expect(values.map(({ value, labels }) => [labels, value])).toEqual([
      [{ sweep: 'retention' }, 5],
      [{ sweep: 'artifacts' }, 2],
    ]);
  });

  it('shows how many items of the last sweep have an unknown state', async () => {
    sweeps.record({ ...orphans, unknown: 7 });
    expect(await valueOf('mooring_sweep_unknown', { sweep: 'orphans' })).toBe(7);
    sweeps.record({ ...orphans, event: 'sweep.stopped', unknown: 3 });
    expect(await valueOf('mooring_sweep_unknown', { sweep: 'orphans' })).toBe(7);
    sweeps.record(orphans);
    expect(await valueOf('mooring_sweep_unknown', { sweep: 'orphans' })).toBe(0);
  });

  it('counts repairs by kind', async () => {
    sweeps.record({ ...orphans, sweep: 'repair', healed: 3 });
    expect(await valueOf('mooring_healed_total', { what: 'repair' })).toBe(3);
  });

  it('ignores dry runs and other facts', async () => {
    const before = await metrics.registry.getMetricsAsJSON();
    sweeps.record({ ...orphans, dryRun: true });
    sweeps.record({ ...orphans, event: 'sweep.tripped', dryRun: true });
    sweeps.record({ event: 'job.completed' });
    sweeps.record({ event: 'sweep.asked', sweep: 'retention' });
    const ours = (all: { name: string }[]): unknown => all.filter(({ name }) => name.startsWith('mooring_'));
    expect(ours(await metrics.registry.getMetricsAsJSON())).toEqual(ours(before));
  });

  async function valueOf(name: string, labels: Record<string, string> = {}): Promise<number | undefined> {
    const { values } = await metrics.registry.getSingleMetric(name)!.get();
    const wanted = Object.entries(labels);
    return values.find((one) => wanted.every(([label, value]) => one.labels[label as never] === value))
      ?.value;
  }
});
