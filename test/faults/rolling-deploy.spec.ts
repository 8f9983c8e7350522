import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { OtherVersion } from '../support/other-version.js';
import type { TestProcess } from '../support/process.js';
import { until } from '../support/until.js';

/** An old worker that knows neither `artifactBytes` of probes nor the kind of drawings, and has other scripts. */
function olderVersion(): OtherVersion {
  const older = new OtherVersion();
  older.change('libs/workloads/probe/src/probe.kinds.js', /artifactBytes: z[^]*?,\n(?= +exit)/, '');
  older.change('libs/workloads/diagrams/src/diagram-kinds.js', "'diagrams.render'", "'diagrams.draw'");
  older.changeScripts();
  return older;
}

describe('a deploy in which an older worker meets newer jobs', () => {
  let older: OtherVersion;
  let fleet: Fleet;
  let oldWorker: TestProcess;
  let kept: string[];

  beforeAll(async () => {
    older = olderVersion();
    fleet = await Fleet.start({ workers: 0 });
    oldWorker = fleet.addWorker(older.home);
    await fleet.untilReady(oldWorker);
  });
  afterAll(async () => {
    await fleet?.stop();
    older?.remove();
  });

  it('keeps jobs of a new kind and with a new payload, without an attempt, and cancels them', async () => {
    const known = await fleet.probe({ ms: 20 });
    const withNewPayload = await fleet.probe({ artifactBytes: 10 });
    const cancelled = await fleet.probe({ artifactBytes: 10 }, { owners: ['trip:43'] });
    const drawing = { type: 'pikchr', source: 'box "new"', output: 'svg' };
    expect(await fleet.request('POST', '/v1/diagrams', drawing)).toMatchObject({ status: 202 });
    const { body } = await fleet.request('GET', '/v1/jobs?kind=diagrams.render');
    const [{ id: ofNewKind }] = body['jobs'] as [{ id: string }];

    await fleet.untilState(known, 'completed');
    kept = [withNewPayload, ofNewKind];
    for (const id of [...kept, cancelled]) {
      const { attempts, error, timeline } = await fleet.untilState(id, 'delayed');
      expect([attempts, error]).toEqual([0, null]);
      expect(JSON.stringify(timeline)).toMatch(/no handler here|its payload cannot be read here/);
    }
    const receipt = await fleet.request('POST', '/v1/owners/trip/43/cancel', {});
    expect(receipt.body).toMatchObject({ removed: 1, done: true });
  });

  it('shares a queue between two versions of the scripts, and a cancel reaches the runs of both', async () => {
    const newWorker = fleet.addWorker();
    await fleet.untilReady(newWorker);
    const slot = { key: 'press:1', limit: 2 };
    const ids = await Promise.all(Array.from({ length: 30 }, () => fleet.probe({ ms: 30 }, { slot })));
    const long = await Promise.all(
      Array.from({ length: 20 }, () => fleet.probe({ ms: 60_000 }, { owners: ['trip:44'] })),
    );
    await Promise.all(long.map((id) => fleet.untilState(id, 'running')));
    const ran = (worker: TestProcess) =>
      worker.facts().filter(({ event, jobId }) => event === 'job.began' && long.includes(String(jobId)));
    expect(Math.min(ran(oldWorker).length, ran(newWorker).length)).toBeGreaterThan(0);
    const body = { wait: 'drained', waitFor: '20s' };
    const receipt = await fleet.request('POST', '/v1/owners/trip/44/cancel', body);
    expect(receipt.body).toMatchObject({ aborted: 20, running: 0, done: true });
    await Promise.all(ids.map((id) => fleet.untilState(id, 'completed')));
  });

  it('runs on the new worker what the old one kept, and nothing has failed', async () => {
    oldWorker.kill('SIGTERM');
    expect(await oldWorker.exited).toEqual({ code: 0, signal: null });
    for (const id of kept)
      expect(await fleet.request('POST', `/v1/jobs/${id}/promote`)).toMatchObject({ status: 200 });
    const ended = await Promise.all(kept.map((id) => fleet.untilState(id, 'completed')));
    expect(ended.map(({ attempts }) => attempts)).toEqual([1, 1]);
    const failed = await fleet.request('GET', '/v1/jobs?state=failed');
    expect(failed.body).toMatchObject({ jobs: [], cursor: null });
    await until(() => oldWorker.facts().some(({ event }) => event === 'job.put-off'), 'it was logged');
  });
});
