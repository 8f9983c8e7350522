import { openEngine, type Container, type ContainerEngine } from '#workloads/containers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fleet, type Answer } from '../support/fleet.js';
import { until } from '../support/until.js';

describe('leases', () => {
  let fleet: Fleet;
  let engine: ContainerEngine;
  beforeAll(async () => {
    fleet = await Fleet.start({ workers: 2, janitor: true, env: { LEASE_REAP_EVERY: '2s' } });
    engine = openEngine({ folder: fleet.containers, memoryMb: 64, cpus: 1, pids: 10 });
  });
  afterAll(async () => {
    await engine.close();
    await fleet.stop();
  });

  it('start a container, hold it, and end it at its time', async () => {
    const asked = await post('/v1/leases', { image: 'alpine', duration: '3s' });
    expect({ asked, status: asked.status }).toMatchObject({ status: 202 });
    const id = String(asked.body['id']);
    const running = await untilState(id, 'running');
    console.log(asked.body, running);
    const ended = await untilState(id, 'ended');
    console.log(ended);
    console.log(fleet.processes.flatMap((p) => p.facts()).filter((f) => String(f['event']).startsWith('lease')));
    expect(await containers()).toEqual([]);
  });

  function containers(): Promise<readonly Container[]> {
    return engine.list(`mooring.fleet=${fleet.prefix}`, new AbortController().signal);
  }
  function untilState(id: string, state: string): Promise<Record<string, unknown>> {
    return until(async () => {
      const { body } = await fleet.request('GET', `/v1/leases/${id}`);
      return body['state'] === state && body;
    }, `lease ${id} is ${state}`);
  }
  function post(path: string, body?: object): Promise<Answer> {
    return fleet.request('POST', path, body);
  }
});
