import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { askFor, diagramOf, newGraph, slowGraph, slowTables, untilDiagram } from '../support/diagrams.js';
import { Fleet, type Answer } from '../support/fleet.js';
import { leftovers } from '../support/leftovers.js';
import { Stalls } from '../support/stalls.js';
import { until } from '../support/until.js';

const BACKLOG = 20;
const ASKED = 300;
/** Far more than the workers can draw in the meantime. */
const LANES = 60;
/** Time limit for an accepted diagram: on any supported machine, those before it take less. */
const BOUND_MS = 40_000;

describe('more diagrams than can be drawn', () => {
  let fleet: Fleet;
  afterEach(() => fleet.stop());

  it('are refused at once while the queue is full, and leave nothing', async () => {
    fleet = await Fleet.start({ workers: 0, env: { DIAGRAM_BACKLOG: '3' } });
    const sources = [newGraph(), newGraph(), newGraph()];
    const waiting = await Promise.all(sources.map((source) => diagramOf(fleet, { source })));
    const before = await keys();
    const stalls = new Stalls();
    const began = Date.now();
    const refused = await askFor(fleet);
    expect(refused).toMatchObject({ status: 429, body: { code: 'QUEUE_FULL' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    // A source is not checked when there is no room for its job.
    expect(await askFor(fleet, { source: 'digraph { -> }' })).toMatchObject({ status: 429 });
    const inOneCall = await fetch(`${fleet.url}/graphviz/svg`, { method: 'POST', body: newGraph() });
    expect([inOneCall.status, inOneCall.headers.get('retry-after')]).toEqual([429, '1']);
    expect(stalls.since(began)).toBeLessThan(2_000);
    stalls.stop();
    expect(await keys()).toEqual(before);

    // An identical diagram needs no further job.
    expect(await askFor(fleet, { source: sources[0] })).toMatchObject({
      status: 202,
      body: { id: waiting[0]!.id },
    });
    await fleet.untilReady(fleet.addWorker());
    for (const { id } of waiting) await untilDiagram(fleet, id, 'completed');
    await untilDiagram(fleet, (await diagramOf(fleet)).id, 'completed');
  });

  it('are partly refused; all accepted ones are drawn, none waits long, and the api answers', async () => {
    fleet = await Fleet.start({ env: { DIAGRAM_BACKLOG: String(BACKLOG), WORKER_CONCURRENCY: '2' } });
    const accepted = new Map<string, number>();
    const refused: Answer[] = [];
    const latencies: number[] = [];
    let isOver = false;
    const watch = untilAll(accepted, latencies, () => isOver);
    const health = slowestLook(() => isOver);
    await Promise.all(Array.from({ length: LANES }, () => lane(ASKED / LANES, accepted, refused)));
    isOver = true;
    await watch;

    expect([accepted.size > BACKLOG, refused.length > ASKED / 2]).toEqual([true, true]);
    for (const { status, headers, body } of refused)
      expect({ status, again: headers.get('retry-after'), body }).toMatchObject({
        status: 429,
        again: '1',
        body: { code: 'QUEUE_FULL' },
      });
    expect(latencies).toHaveLength(accepted.size);
    expect(Math.max(...latencies)).toBeLessThan(BOUND_MS);
    expect(await health).toBeLessThan(5_000);
    await untilDiagram(fleet, (await diagramOf(fleet)).id, 'completed');
  });

  it('of a heavy type leave room for the others', async () => {
    fleet = await Fleet.start({ env: { DIAGRAM_HEAVY: '1', WORKER_CONCURRENCY: '2' } });
    const heavy = await Promise.all(Array.from({ length: 6 }, () => diagramOf(fleet, slowTables())));
    const light = await diagramOf(fleet);
    await untilDiagram(fleet, light.id, 'completed');
    const states = await Promise.all(heavy.map(({ id }) => stateOf(id)));
    expect(states).toContain('pending');
    for (const { id } of heavy) await untilDiagram(fleet, id, 'completed');
  });

  async function stateOf(id: string): Promise<unknown> {
    return (await fleet.request('GET', `/v1/diagrams/${id}`)).body['state'];
  }

  async function lane(count: number, accepted: Map<string, number>, refused: Answer[]): Promise<void> {
    for (let i = 0; i < count; i += 1) {
      const answer = await askFor(fleet, { source: slowGraph(9) });
      if (answer.status === 202) accepted.set(String(answer.body['id']), performance.now());
      else refused.push(answer);
    }
  }

  /** The time at which each is drawn. */
  async function untilAll(
    accepted: Map<string, number>,
    latencies: number[],
    isOver: () => boolean,
  ): Promise<void> {
    const seen = new Set<string>();
    await until(
      async () => {
        for (const [id, since] of accepted) {
          if (seen.has(id) || (await stateOf(id)) !== 'completed') continue;
          seen.add(id);
          latencies.push(performance.now() - since);
        }
        return isOver() && seen.size === accepted.size;
      },
      'all that were accepted are drawn',
      80_000,
    );
  }

  async function slowestLook(isOver: () => boolean): Promise<number> {
    const stalls = new Stalls();
    let slowest = 0;
    while (!isOver()) {
      const began = Date.now();
      expect((await fetch(`${fleet.url}/livez`)).status).toBe(200);
      slowest = Math.max(slowest, stalls.since(began));
    }
    stalls.stop();
    return slowest;
  }

  async function keys(): Promise<string[]> {
    const redis = new Redis(fleet.storeUrl);
    const found = await leftovers(redis, fleet.prefix);
    await redis.quit();
    return found;
  }
});
