import { Redis } from 'ioredis';
import { readdir } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  askFor,
  diagramOf,
  newGraph,
  picture,
  renderersOf,
  slowGraph,
  undrawable,
  untilDiagram,
  untilDrawing,
  viewDiagram,
  type DiagramSeen,
} from '../support/diagrams.js';
import { Fleet } from '../support/fleet.js';
import { isGone } from '../support/is-gone.js';
import { until } from '../support/until.js';

const CLOSED = 'OWNER_CLOSED';

describe('a diagram', () => {
  let fleet: Fleet;
  beforeAll(async () => (fleet = await Fleet.start()));
  afterAll(() => fleet.stop());

  it('is drawn by a job and served under its short link, with scripts disabled', async () => {
    const { id, shortlink, renderer } = await diagramOf(fleet, { source: 'digraph { quay -> berth }' });
    expect(renderer).toMatch(/^@viz-js\/viz \d/);
    const { job, bytes } = await untilDiagram(fleet, id, 'completed');
    const answer = await picture(fleet, shortlink);
    const text = await answer.text();
    expect(text).toMatch(/^<svg[\s\S]*quay[\s\S]*berth/);
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/svg+xml',
      'content-length': String(bytes),
      'content-disposition': `inline; filename="diagram-${shortlink.slice(0, 8)}.svg"`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringMatching(/^default-src 'none'; .*; sandbox$/),
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'no-cache',
    });
    const etag = answer.headers.get('etag')!;
    const again = await picture(fleet, shortlink, { 'if-none-match': `"x", ${etag}` });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    expect(await fleet.job(job!)).toMatchObject({
      kind: 'diagrams.render',
      owners: [`diagram:${id}`],
      result: { contentType: 'image/svg+xml', bytes },
    });
  });

  it('is one diagram with one job for all equal requests', async () => {
    const source = newGraph();
    const answers = await Promise.all(Array.from({ length: 20 }, () => askFor(fleet, { source })));
    expect(answers.map(({ status }) => status).filter((status) => status !== 200)).not.toContain(500);
    const told = new Set(
      answers.map(({ body: { id, shortlink, job } }) => `${String(id)} ${String(shortlink)} ${String(job)}`),
    );
    expect([...told]).toHaveLength(1);
    const { id, job } = answers[0]!.body as { id: string; job: string };
    await untilDiagram(fleet, id, 'completed');
    const cached = await askFor(fleet, { source, type: 'dot' });
    expect(cached).toMatchObject({ status: 200, body: { id, job, state: 'completed' } });
    expect(await began(job)).toBe(1);
  });

  it('with an invalid source is refused before anything is written, with the line', async () => {
    const before = await keys();
    const answer = await askFor(fleet, { source: 'digraph {\n  a -> b\n  c -> -> d\n}' });
    expect(answer).toMatchObject({ status: 422, body: { code: 'INVALID_DIAGRAM', line: 3 } });
    expect(answer.body['detail']).toMatch(/syntax error/);
    expect(await keys()).toEqual(before);
  });

  it.each([
    ['mermaid', 'graph TD\n  A --{ B'],
    ['d2', 'b: {'],
    ['nomnoml', '[b|c]]'],
    ['vega-lite', '{"mark": "bar",,}'],
    ['wavedrom', '{signal: [{name: }]}'],
    ['pikchr', 'foo bar'],
    ['bytefield', '(foo)'],
    ['dbml', 'Table a {\n  id\n}'],
  ])('of the type %s is refused too, once its checker has started', async (type, source) => {
    const answer = await until(
      async () => {
        const asked = await askFor(fleet, { type, source });
        return asked.status !== 202 && asked;
      },
      'it is refused',
      60_000,
    );
    expect(answer).toMatchObject({ status: 422, body: { code: 'INVALID_DIAGRAM' } });
  });

  it.each([
    [{ type: 'plantuml' }, 400, 'INVALID'],
    [{ source: '' }, 400, 'INVALID'],
    [{ output: 'gif' }, 400, 'INVALID'],
    [{ owner: 'invalid' }, 400, 'INVALID'],
    [{ owner: `diagram:${'a'.repeat(32)}` }, 400, 'INVALID'],
    [{ more: 1 }, 400, 'INVALID'],
  ])('with %j is refused', async (more, status, code) => {
    expect(await askFor(fleet, more)).toMatchObject({ status, body: { code } });
  });

  it('with a source that is too long is refused', async () => {
    const source = `digraph { ${'a;'.repeat(600_000)} }`;
    expect(await askFor(fleet, { source })).toMatchObject({ status: 413, body: { code: 'TOO_LARGE' } });
  });

  it('may have much data in its source', async () => {
    const values = Array.from({ length: 4_000 }, (_, x) => ({ x, text: '"quoted"'.repeat(5) }));
    const encoding = { x: { field: 'x', type: 'quantitative' } };
    const source = JSON.stringify({ data: { values }, mark: 'tick', encoding, name: `c${Math.random()}` });
    expect(source.length).toBeGreaterThan(250_000);
    const { id } = await diagramOf(fleet, { type: 'vega-lite', source });
    await untilDiagram(fleet, id, 'completed');
  });

  it('records what its picture lacks', async () => {
    const source = `quay: { shape: image; icon: https://icons.test/${Math.random()}.svg }`;
    const { id, warnings } = await diagramOf(fleet, { type: 'd2', source });
    expect(warnings).toEqual([]);
    const drawn = await untilDiagram(fleet, id, 'completed');
    expect(drawn.warnings).toEqual([expect.stringMatching(/^An image is left out.*icons\.test/)]);
    expect((await fleet.job(drawn.job!)).result).toMatchObject({ warnings: drawn.warnings });
  });

  it("that cannot be drawn fails with the renderer's message; requested again it is tried again", async () => {
    const wrong = undrawable();
    const { id, shortlink } = await diagramOf(fleet, wrong);
    const failed = await untilDiagram(fleet, id, 'failed');
    expect(failed.error?.message).toMatch(/is not fetched/);
    expect(await fleet.job(failed.job!)).toMatchObject({ state: 'failed', attempts: 1 });
    const answer = await picture(fleet, shortlink);
    expect([answer.status, await answer.json()]).toMatchObject([
      422,
      { code: 'RENDER_FAILED', detail: failed.error?.message },
    ]);
    const again = await diagramOf(fleet, wrong);
    expect(again).toMatchObject({ id, shortlink });
    expect(again.job).not.toBe(failed.job);
    await untilDiagram(fleet, id, 'failed');
    await untilDiagram(fleet, (await diagramOf(fleet)).id, 'completed');
  });

  it('that exceeds the time limit fails, while others are drawn', async () => {
    const drawFive = async (): Promise<DiagramSeen[]> =>
      Promise.all(
        Array.from({ length: 5 }, async () => untilDiagram(fleet, (await diagramOf(fleet)).id, 'completed')),
      );
    // Starts every renderer process first, which takes seconds on a slow machine.
    await drawFive();
    const { id } = await diagramOf(fleet, { source: slowGraph() });
    await untilDiagram(fleet, id, 'rendering');
    const drawn = await drawFive();
    const { error, job } = await untilDiagram(fleet, id, 'failed');
    const ends = await Promise.all(drawn.map((other) => endOf(other.job!)));
    expect(Math.min(...ends)).toBeLessThan(await endOf(job!));
    expect(error?.message).toMatch(/long|time|ms/);
    expect(await fleet.untilState(job!, 'failed')).toMatchObject({ attempts: 1 });
  });

  it('whose job is removed while it runs is gone, and stays so', async () => {
    const { id, shortlink, job } = await diagramOf(fleet, { source: slowGraph() });
    await untilDiagram(fleet, id, 'rendering');
    const renderers = new Set<number>();
    const isOneGone = (): boolean => {
      for (const pid of renderersOf(fleet.workers[0]!)) renderers.add(pid);
      return [...renderers].some(isGone);
    };
    expect(isOneGone()).toBe(false);
    expect(await fleet.request('DELETE', `/v1/jobs/${job}`)).toMatchObject({ status: 200 });
    // Well before its time limit.
    await until(isOneGone, 'its renderer is gone', 3_000);
    await untilDiagram(fleet, id, 'cancelled');
    const answer = await picture(fleet, shortlink);
    expect([answer.status, await answer.json()]).toMatchObject([410, { code: 'GONE' }]);
    expect(await picturesOf(job!)).toEqual([]);
    await untilDiagram(fleet, (await diagramOf(fleet)).id, 'completed');
    expect((await viewDiagram(fleet, id)).state).toBe('cancelled');
  });

  it('is removed with its owner, whether waiting, running or drawn', async () => {
    const owner = `trip:${Math.random()}`;
    const drawn = await diagramOf(fleet, { owner });
    const { job } = await untilDiagram(fleet, drawn.id, 'completed');
    const running = await diagramOf(fleet, { owner, source: slowGraph() });
    await untilDrawing(fleet, running.id);
    const { status, body } = await cancel(owner);
    expect({ status, body }).toMatchObject({ status: 200, body: { aborted: 1 } });
    for (const { id, shortlink } of [drawn, running]) {
      await untilDiagram(fleet, id, 'cancelled');
      expect((await picture(fleet, shortlink)).status).toBe(410);
    }
    await until(async () => (await picturesOf(job!)).length === 0, 'its bytes are gone');
    expect(await askFor(fleet, { owner })).toMatchObject({ status: 409, body: { code: CLOSED } });
  });

  it('stays, or is drawn for the others, when one of its requesters is cancelled', async () => {
    const [one, other] = [`trip:${Math.random()}`, `trip:${Math.random()}`];
    const done = await diagramOf(fleet, { owner: one, source: 'digraph { shared }' });
    await untilDiagram(fleet, done.id, 'completed');
    expect(await askFor(fleet, { owner: other, source: 'digraph { shared }' })).toMatchObject({
      status: 200,
    });

    const source = slowGraph(20);
    const slow = await diagramOf(fleet, { owner: one, source });
    await untilDrawing(fleet, slow.id);
    expect(await diagramOf(fleet, { owner: other, source })).toMatchObject({ id: slow.id, job: slow.job });
    await cancel(one);
    const made = await untilDiagram(fleet, slow.id, 'completed');
    expect(made.job).not.toBe(slow.job);
    expect(await fleet.job(made.job!)).toMatchObject({ owners: [`diagram:${slow.id}`, other] });
    expect(await fleet.job(slow.job!)).toMatchObject({ state: 'cancelled' });
    await untilDiagram(fleet, done.id, 'completed');

    await cancel(other);
    for (const { id } of [done, slow]) await untilDiagram(fleet, id, 'cancelled');
    expect(await askFor(fleet, { source: 'digraph { shared }' })).toMatchObject({
      status: 202,
      body: { id: done.id },
    });
    await untilDiagram(fleet, done.id, 'completed');
  });

  it.each(['0', 'x'.repeat(18), '0aaaaaaaaaaaaaaaaa', '..%2f..%2fetc', '*'])(
    'has no link %s',
    async (link) => {
      expect((await picture(fleet, link)).status).toBe(404);
      expect((await fleet.request('GET', `/v1/diagrams/${link}`)).status).toBe(404);
    },
  );

  function cancel(owner: string): ReturnType<Fleet['request']> {
    const [type, id] = owner.split(':');
    return fleet.request('POST', `/v1/owners/${type}/${id}/cancel`, { reason: 'gone', wait: 'drained' });
  }

  async function endOf(job: string): Promise<number> {
    return Date.parse((await fleet.job(job)).timeline.at(-1)!.at);
  }

  async function picturesOf(job: string): Promise<string[]> {
    const found = await readdir(fleet.artifacts, { recursive: true });
    return found.filter((path) => path.includes(job));
  }

  async function keys(): Promise<string[]> {
    const redis = new Redis(fleet.storeUrl);
    const found = await redis.keys(`${fleet.prefix}:{diagrams:*`);
    await redis.quit();
    return found.toSorted();
  }

  /** How often a job started, over all workers. */
  async function began(job: string): Promise<number> {
    const facts = fleet.workers.flatMap((worker) => worker.facts());
    return facts.filter(({ event, jobId }) => event === 'job.began' && jobId === job).length;
  }
});

describe('a picture', () => {
  let fleet: Fleet;
  afterEach(() => fleet.stop());

  it('answers with Retry-After until it is drawn', async () => {
    fleet = await Fleet.start({ workers: 0 });
    const { shortlink, id } = await diagramOf(fleet);
    const answer = await picture(fleet, shortlink);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect([answer.status, await answer.json()]).toEqual([202, { id, shortlink, state: 'pending' }]);
  });

  it('is removed when it is old; its link reports that until it is requested again', async () => {
    fleet = await Fleet.start({ janitor: true, env: { RETENTION_EVERY: '300ms', RETENTION_AGE: '4s' } });
    const source = newGraph();
    const { id, shortlink, job } = await diagramOf(fleet, { source });
    await untilDiagram(fleet, id, 'completed');
    await untilDiagram(fleet, id, 'removed');
    expect((await picture(fleet, shortlink)).status).toBe(410);
    expect(await diagramOf(fleet, { source })).toMatchObject({ id, shortlink });
    const again = await untilDiagram(fleet, id, 'completed');
    expect(again.job).not.toBe(job);
    expect((await picture(fleet, shortlink)).status).toBe(200);
  });
});
