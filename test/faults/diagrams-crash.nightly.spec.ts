import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  askFor,
  diagramOf,
  newGraph,
  renderersOf,
  slowGraph,
  untilDiagram,
  type DiagramSeen,
} from '../support/diagrams.js';
import { Fleet } from '../support/fleet.js';
import { startOdd } from '../support/odd-worker.js';
import type { TestProcess } from '../support/process.js';
import { TestStore } from '../support/store.js';
import { until } from '../support/until.js';

/** A process is killed at each step: requesting, enqueueing, drawing, cancelling the owner. */
describe('kill -9 of a process that', () => {
  let fleet: Fleet;
  let worker: TestProcess | undefined;
  beforeAll(async () => {
    fleet = await Fleet.start({ workers: 0, janitor: true, env: { WORKER_LOCK: '1s' } });
  });
  afterAll(() => fleet.stop());

  async function killed(app: 'api' | 'worker', point: string): Promise<TestProcess> {
    const odd = startOdd(app, fleet, 'fail-point', { FAIL_POINT: point, PORT: '0', WORKER_LOCK: '1s' });
    await fleet.untilReady(odd);
    return odd;
  }

  async function expectKilled(process: TestProcess): Promise<void> {
    expect(await process.exited).toEqual({ code: null, signal: 'SIGKILL' });
  }

  async function withWorker(): Promise<TestProcess> {
    if (!worker) await fleet.untilReady((worker = fleet.addWorker()));
    return worker;
  }

  async function withoutWorker(): Promise<void> {
    worker?.kill('SIGTERM');
    await worker?.exited;
    worker = undefined;
  }

  function ask(api: TestProcess, body: object): Promise<Response> {
    const headers = { 'content-type': 'application/json' };
    return fetch(`${api.url}/v1/diagrams`, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  /** From an api that is killed at that point. */
  async function cancelledUntil(point: string, owner: string): Promise<void> {
    const api = await killed('api', point);
    const [type, id] = owner.split(':');
    await fetch(`${api.url}/v1/owners/${type}/${id}/cancel`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ reason: 'gone' }),
    }).catch(() => undefined);
    await expectKilled(api);
  }

  /** From that process only. */
  async function untilToldBy(one: TestProcess, owner: string): Promise<void> {
    const others = [fleet.api, ...fleet.janitors];
    for (const other of others) other.kill('SIGSTOP');
    const isIt = (fact: Record<string, unknown>): boolean =>
      fact['event'] === 'owner.cancelled' && fact['owner'] === owner;
    try {
      await until(() => one.facts().some(isIt), 'it logs the cancel');
    } finally {
      for (const other of others) other.kill('SIGCONT');
    }
  }

  /** How often a job of the diagram started in the worker. */
  function beginnings(id: string): number {
    const facts = worker?.facts() ?? [];
    return facts.filter(({ event, owner }) => event === 'job.began' && owner === `diagram:${id}`).length;
  }

  it.each(['before', 'after'].flatMap((when) => ['ask', 'noted'].map((name) => `${when}:diagrams/${name}`)))(
    'requests a diagram, %s: the next caller gets it, and it is drawn once',
    async (point) => {
      await withWorker();
      const request = { type: 'graphviz', source: newGraph() };
      const api = await killed('api', point);
      await expect(ask(api, request)).rejects.toThrow('fetch failed');
      await expectKilled(api);
      const view = await until(async () => {
        const { status, body } = await askFor(fleet, request);
        return status < 300 && (body as unknown as DiagramSeen);
      }, 'it is asked for again');
      const { job } = await untilDiagram(fleet, view.id, 'completed');
      expect(await fleet.job(job!)).toMatchObject({ state: 'completed', attempts: 1 });
      expect(beginnings(view.id)).toBe(1);
    },
  );

  it.each(['before:diagrams/begin', 'after:diagrams/begin'])(
    'draws it, %s: another worker draws it',
    async (point) => {
      await withoutWorker();
      const odd = await killed('worker', point);
      const { id, job } = await diagramOf(fleet);
      await expectKilled(odd);
      await withWorker();
      expect((await untilDiagram(fleet, id, 'completed')).job).toBe(job);
    },
  );

  it('cancels one of two requesters, before the other is handled: the diagram is drawn for the other', async () => {
    await withoutWorker();
    const [one, other] = [`trip:${Math.random()}`, `trip:${Math.random()}`];
    const source = newGraph();
    const { id, job } = await diagramOf(fleet, { owner: one, source });
    await diagramOf(fleet, { owner: other, source });
    await cancelledUntil('before:diagrams/strike', one);
    await withWorker();
    const made = await untilDiagram(fleet, id, 'completed');
    expect(made.job).not.toBe(job);
    expect(await fleet.job(made.job!)).toMatchObject({ owners: [`diagram:${id}`, other] });
  });

  const byOthers: [point: string, by: string][] = [
    ['before:diagrams/strike', 'any process'],
    ['after:cancel', 'any process'],
    ['after:cancel', 'a worker'],
  ];
  it.each(byOthers)(
    'cancels the only requester, %s, and %s continues: the picture is removed',
    async (point, by) => {
      const drawing = await withWorker();
      const owner = `trip:${Math.random()}`;
      const { id, shortlink } = await diagramOf(fleet, { owner });
      await untilDiagram(fleet, id, 'completed');
      await cancelledUntil(point, owner);
      if (by === 'a worker') await untilToldBy(drawing, owner);
      await untilDiagram(fleet, id, 'cancelled');
      expect((await fetch(`${fleet.url}/d/${shortlink}`)).status).toBe(410);
    },
  );

  it('draws, as a child of the worker: another child draws at the next attempt', async () => {
    const { id, job } = await diagramOf(fleet, { source: slowGraph(16) });
    const drawing = await withWorker();
    await untilDiagram(fleet, id, 'rendering');
    const processes = await until(() => {
      const found = renderersOf(drawing);
      return found.length > 0 && found;
    }, 'a process draws');
    for (const pid of processes) process.kill(pid, 'SIGKILL');
    await untilDiagram(fleet, id, 'completed', 40_000);
    expect(await fleet.untilState(job!, 'completed')).toMatchObject({ attempts: 2 });
    for (const pid of renderersOf(drawing)) process.kill(pid, 'SIGKILL');
    await untilDiagram(fleet, (await diagramOf(fleet)).id, 'completed');
    expect(drawing.hasExited).toBe(false);
  });
});

describe('workers', () => {
  let fleet: Fleet;
  let store: TestStore;
  beforeAll(async () => {
    store = await TestStore.start();
    fleet = await Fleet.start({ storeUrl: store.url, workers: 2, env: { WORKER_CONCURRENCY: '2' } });
  });
  afterAll(async () => {
    await fleet.stop();
    await store.stop();
  });

  const began = (job: string | null) => (worker: TestProcess) =>
    worker.facts().filter(({ event, jobId }) => event === 'job.began' && jobId === job).length;

  it('draw different diagrams, each of them once', async () => {
    const asked = await Promise.all(Array.from({ length: 30 }, () => diagramOf(fleet)));
    for (const { id } of asked) await untilDiagram(fleet, id, 'completed');
    const shares = fleet.workers.map((worker) => asked.map(({ job }) => began(job)(worker)));
    expect(asked.map((_, i) => shares[0]![i]! + shares[1]![i]!)).toEqual(asked.map(() => 1));
    expect(shares.map((share) => share.includes(1))).toEqual([true, true]);
  });

  it('that shut down finish what they draw and leave the rest to others', async () => {
    const asked = await Promise.all(
      Array.from({ length: 8 }, () => diagramOf(fleet, { source: slowGraph(13) })),
    );
    const [first] = fleet.workers;
    const running = await until(() => asked.find(({ job }) => began(job)(first!) > 0), 'it draws');
    first!.kill('SIGTERM');
    expect(await first!.exited).toEqual({ code: 0, signal: null });
    expect(await fleet.job(running.job!)).toMatchObject({ state: 'completed', attempts: 1 });
    for (const { id, job } of asked) {
      await untilDiagram(fleet, id, 'completed');
      expect(await fleet.untilState(job!, 'completed')).toMatchObject({ attempts: 1 });
    }
  });

  it('wait for an unavailable store and continue: accepted diagrams are drawn', async () => {
    const accepted = await Promise.all(
      Array.from({ length: 6 }, () => diagramOf(fleet, { source: slowGraph(12) })),
    );
    store.freeze();
    const since = performance.now();
    expect(await askFor(fleet)).toMatchObject({ status: 503, body: { code: 'STORE_UNAVAILABLE' } });
    const link = await fetch(`${fleet.url}/d/${accepted[0]!.shortlink}`);
    expect([link.status, await link.json()]).toMatchObject([503, { code: 'STORE_UNAVAILABLE' }]);
    // The first diagram of its api.
    const drawn = await fetch(`${fleet.url}/graphviz/svg`, { method: 'POST', body: newGraph() });
    expect([drawn.status, await drawn.json()]).toMatchObject([503, { code: 'STORE_UNAVAILABLE' }]);
    expect(performance.now() - since).toBeLessThan(8_000);
    store.thaw();
    for (const { id } of accepted) await untilDiagram(fleet, id, 'completed');
    const ended = fleet.processes.filter(({ hasExited }) => hasExited);
    expect(ended).toEqual(fleet.workers.slice(0, 1));
  });
});
