import type { KindRegistry, RunningJobs } from '#nestjs';
import type { Metrics } from '#runtime';

const LABELS = ['queue', 'kind'] as const;

/** Shows how long the runs of this process have lasted, and how long they may, as of each scrape. */
export function showRuns(metrics: Metrics, running: RunningJobs, kinds: KindRegistry): void {
  metrics.gauge(
    'mooring_job_oldest_run_seconds',
    'For how long the oldest present run of a kind has lasted.',
    LABELS,
    (gauge) => {
      gauge.reset();
      // The oldest comes last, and stays.
      for (const { queue, kind, since } of running.all().toSorted((a, b) => b.since - a.since))
        gauge.set({ queue, kind }, (Date.now() - since) / 1_000);
    },
  );
  metrics.gauge('mooring_job_run_limit_seconds', 'The time limit of a kind that runs.', LABELS, (gauge) => {
    gauge.reset();
    for (const { queue, kind } of running.all())
      gauge.set({ queue, kind }, (kinds.find(kind)?.timeoutMs ?? Infinity) / 1_000);
  });
}
