import { describe, expect, it } from 'vitest';
import { Metrics, type CountedFact } from './metrics.js';

const job = { queue: 'media', kind: 'thumbnail' };

/** The samples of one metric, by their labels, without the common ones. */
async function samples(facts: readonly CountedFact[], metric: string): Promise<Record<string, number>> {
  const metrics = new Metrics('test');
  for (const fact of facts) metrics.record(fact);
  const found: Record<string, number> = {};
  for (const line of (await metrics.text()).split('\n')) {
    const [, name, labels, value] = /^(\w+)\{(.*)\} (\S+)$/.exec(line) ?? [];
    if (name === metric)
      found[
        labels!
          .split(',')
          .filter((label) => label !== 'app="test"')
          .join(',')
      ] = Number(value);
  }
  return found;
}

describe('the metrics', () => {
  it('count the facts of jobs by event, queue and kind', async () => {
    const facts = ['job.accepted', 'job.accepted', 'job.completed'].map((event) => ({ event, ...job }));
    expect(await samples(facts, 'mooring_job_events_total')).toEqual({
      'event="accepted",queue="media",kind="thumbnail"': 2,
      'event="completed",queue="media",kind="thumbnail"': 1,
    });
  });

  it('count a fact without a kind', async () => {
    expect(await samples([{ event: 'job.stalled', queue: 'media' }], 'mooring_job_events_total')).toEqual({
      'event="stalled",queue="media",kind=""': 1,
    });
  });

  it('count finished jobs by outcome', async () => {
    const facts = [
      { event: 'job.began', ...job },
      { event: 'job.failed', ...job, final: false },
      { event: 'job.completed', ...job },
      { event: 'job.cancelled', ...job },
      { event: 'job.expired', ...job },
    ];
    expect(await samples(facts, 'mooring_jobs_ended_total')).toEqual({
      'outcome="completed",queue="media",kind="thumbnail"': 1,
      'outcome="failed",queue="media",kind="thumbnail"': 0,
      'outcome="cancelled",queue="media",kind="thumbnail"': 1,
      'outcome="expired",queue="media",kind="thumbnail"': 1,
    });
    expect(
      await samples([...facts, { event: 'job.failed', ...job, final: true }], 'mooring_jobs_ended_total'),
    ).toMatchObject({ 'outcome="failed",queue="media",kind="thumbnail"': 1 });
  });

  it('count cancels by the type of their owner, and those of single jobs separately', async () => {
    const facts = [
      { event: 'owner.cancelled', owner: 'trip:1' },
      { event: 'owner.cancelled', owner: 'trip:2:3' },
      { event: 'owner.cancelled', owner: 'site:1', jobOnly: true as const },
    ];
    expect(await samples(facts, 'mooring_cancels_total')).toEqual({
      'what="owner",type="trip"': 2,
      'what="job",type="site"': 1,
    });
  });

  it('count cancels of types beyond the first hundred together', async () => {
    const facts = Array.from({ length: 5_000 }, (_, i) => ({
      event: 'owner.cancelled',
      owner: `t${i % 500}:1`,
    }));
    const found = await samples(facts, 'mooring_cancels_total');
    expect(Object.keys(found)).toHaveLength(101);
    expect(found).toMatchObject({ 'what="owner",type="t99"': 10, 'what="owner",type="other"': 4_000 });
  });

  it('count the failures of a resolver by its type', async () => {
    const failed = { event: 'trouble', what: 'The resolver of "ride"', resolver: 'ride' };
    expect(await samples([failed, failed], 'mooring_resolver_failures_total')).toEqual({ 'type="ride"': 2 });
  });

  it('count expired jobs by the gate and by the sweep', async () => {
    const facts = [
      { event: 'job.expired', ...job },
      { event: 'job.expired', ...job, by: 'sweep' },
      { event: 'job.expired', ...job, by: 'sweep' },
      { event: 'job.cancelled', ...job, by: 'sweep' },
    ];
    expect(await samples(facts, 'mooring_jobs_expired_total')).toEqual({ 'by="gate"': 1, 'by="sweep"': 2 });
  });

  it('show the stalls of a queue before the first one', async () => {
    expect(
      await samples([{ event: 'worker.started', queues: ['media'] }], 'mooring_job_events_total'),
    ).toEqual({
      'event="stalled",queue="media",kind=""': 0,
    });
  });

  it('measure the lifetime of a job, from its acceptance to its end', async () => {
    const facts = [2_000, 4_000].map((lifetimeMs) => ({ event: 'job.completed', ...job, lifetimeMs }));
    const all = [...facts, { event: 'job.failed', ...job, tookMs: 9, final: false }];
    const labels = 'queue="media",kind="thumbnail"';
    expect(await samples(all, 'mooring_job_lifetime_seconds_sum')).toEqual({ [labels]: 6 });
    expect(await samples(all, 'mooring_job_lifetime_seconds_count')).toEqual({ [labels]: 2 });
  });

  it('count lost events', async () => {
    const facts = [3, 4].map((count) => ({ event: 'events.lost', count }));
    expect(await samples(facts, 'mooring_events_lost_total')).toEqual({ '': 7 });
  });

  it('ignore facts that are not about a job', async () => {
    const facts = [
      { event: 'trouble', what: 'Queue media' },
      { event: 'worker.drained', tookMs: 5 },
    ];
    expect(await samples(facts, 'mooring_job_events_total')).toEqual({});
    expect(await samples(facts, 'mooring_job_run_seconds_count')).toEqual({});
  });

  it('measure the wait of a job that begins, in seconds', async () => {
    const facts = [100, 400].map((waitedMs) => ({ event: 'job.began', ...job, waitedMs }));
    const labels = 'queue="media",kind="thumbnail"';
    expect(await samples(facts, 'mooring_job_wait_seconds_sum')).toEqual({ [labels]: 0.5 });
    expect(await samples(facts, 'mooring_job_wait_seconds_count')).toEqual({ [labels]: 2 });
    expect(await samples(facts, 'mooring_job_run_seconds_count')).toEqual({});
  });

  it('measure the run of a job, however it ended', async () => {
    const facts = ['job.completed', 'job.failed'].map((event) => ({ event, ...job, tookMs: 1_000 }));
    const labels = 'queue="media",kind="thumbnail"';
    expect(await samples(facts, 'mooring_job_run_seconds_sum')).toEqual({ [labels]: 2 });
    expect(await samples(facts, 'mooring_job_run_seconds_count')).toEqual({ [labels]: 2 });
  });

  it("put a time that equals a bucket's limit into that bucket, and one above it into the next", async () => {
    const facts = [5, 6].map((tookMs) => ({ event: 'job.completed', ...job, tookMs }));
    expect(await samples(facts, 'mooring_job_run_seconds_bucket')).toMatchObject({
      'le="0.005",queue="media",kind="thumbnail"': 1,
      'le="0.02",queue="media",kind="thumbnail"': 2,
    });
  });

  it('count facts of a workload by name and outcome', async () => {
    const step = { event: 'workload', what: 'lease.cleanup', facts: { action: 'stop' } };
    const facts = [
      { ...step, status: 'done' },
      { ...step, status: 'failed' },
      { event: 'workload', what: 'lease.expired', status: 'done', facts: {} },
    ];
    expect(await samples(facts, 'mooring_workload_events_total')).toEqual({
      'event="lease.cleanup",action="stop",status="done"': 1,
      'event="lease.cleanup",action="stop",status="failed"': 1,
      'event="lease.expired",action="",status="done"': 1,
    });
  });

  it('name their app and include the resources of the process', async () => {
    expect(await new Metrics('worker').text()).toMatch(
      /^process_resident_memory_bytes\{app="worker"\} \d+$/m,
    );
  });
});
