import { afterEach, describe, expect, it } from 'vitest';
import {
  askFor,
  diagramOf,
  newGraph,
  picture,
  slowGraph,
  untilDiagram,
  viewDiagram,
} from '../support/diagrams.js';
import { Fleet } from '../support/fleet.js';
import { until } from '../support/until.js';

describe('a diagram', () => {
  let fleet: Fleet;
  afterEach(() => fleet.stop());

  it('is drawn by a job, and read under its short link', async () => {
    fleet = await Fleet.start();
    const { id, shortlink } = await diagramOf(fleet, { source: 'digraph { quay -> berth }' });
    const done = await untilDiagram(fleet, id, 'completed');
    const answer = await picture(fleet, shortlink);
    expect({ status: answer.status, type: answer.headers.get('content-type') }).toEqual({
      status: 200,
      type: 'image/svg+xml',
    });
    expect(await answer.text()).toMatch(/quay[\s\S]*berth/);
    expect(done).toMatchObject({ error: null });
  });
});
