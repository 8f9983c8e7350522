import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { scaledObjectsOf, type Resource } from '../support/manifests.js';
import type { TestProcess } from '../support/process.js';
import { until } from '../support/until.js';

interface Load {
  readonly load: number;
  readonly waiting: number;
  readonly running: number;
}

/** Decides as KEDA does with the ScaledObject of the pool for sites, without its delays: no pod while the number is 0. */
class Scaler {
  readonly pods: TestProcess[] = [];
  private readonly spec = scaledObjectsOf('keda').find(
    ({ metadata }) => metadata.name === 'mooring-worker-sites',
  )!.spec;

  constructor(private readonly fleet: Fleet) {}

  async look(): Promise<Load> {
    const answer = await this.fleet.request('GET', '/v1/load?kinds=probe');
    const { valueLocation, targetValue } = this.spec.triggers[0].metadata;
    const wanted = Math.ceil((answer.body[valueLocation] as number) / Number(targetValue));
    this.scaleTo(Math.min(Math.max(wanted, this.spec.minReplicaCount), this.spec.maxReplicaCount));
    return answer.body as unknown as Load;
  }

  private scaleTo(count: number): void {
    while (this.pods.length < count) this.pods.push(this.fleet.addWorker());
    for (const pod of this.pods.splice(count)) pod.kill('SIGTERM');
  }
}

describe('a fleet whose workers are scaled by its load', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    // As many runs in each worker as the pool for sites has.
    fleet = await Fleet.start({ workers: 0, env: { WORKER_CONCURRENCY: '5' } });
  });
  afterAll(() => fleet.stop());

  it('has none without work, enough under load, and none again; a delayed job starts one', async () => {
    const scaler = new Scaler(fleet);
    expect(await scaler.look()).toMatchObject({ load: 0, waiting: 0, running: 0 });
    expect(scaler.pods).toHaveLength(0);

    const ids = await Promise.all(Array.from({ length: 10 }, () => fleet.probe({ ms: 400 })));
    expect(await scaler.look()).toMatchObject({ load: 10, waiting: 10, running: 0 });
    expect(scaler.pods).toHaveLength(2);
    await until(async () => (await scaler.look()).running > 0, 'jobs run');
    await until(async () => (await scaler.look()).load === 0, 'all are done');
    expect(scaler.pods).toHaveLength(0);
    const ended = await Promise.all(ids.map((id) => fleet.job(id)));
    expect(ended.map(({ state }) => state)).toEqual(ids.map(() => 'completed'));

    await Promise.all(fleet.workers.map((worker) => worker.exited));
    const late = await fleet.probe({}, { delay: '500ms' });
    expect(await scaler.look()).toMatchObject({ load: 0 });
    await until(async () => (await scaler.look()).load === 1, 'it is due');
    expect(scaler.pods).toHaveLength(1);
    await fleet.untilState(late, 'completed');
    await until(async () => (await scaler.look()).load === 0, 'it is done');
    expect(scaler.pods).toHaveLength(0);
  });

  it('is scaled by the same queues if Prometheus is asked', async () => {
    const { body } = await fleet.request('GET', '/v1/kinds');
    const queueOf = new Map(
      (body['kinds'] as { name: string; queue: string }[]).map((kind) => [kind.name, kind.queue]),
    );
    const asked = ({ spec }: Resource) => {
      const { url, query } = spec.triggers[0].metadata as { url?: string; query: string };
      const kinds = url && new URL(url).searchParams.get('kinds')!.split(',');
      const queues = kinds
        ? kinds.map((kind) => queueOf.get(kind))
        : /queue=~"([^"]+)"/.exec(query)?.[1]?.split('|');
      return [spec.scaleTargetRef.name, queues];
    };
    expect(scaledObjectsOf('keda-prometheus').map(asked)).toEqual(scaledObjectsOf('keda').map(asked));
  });
});
