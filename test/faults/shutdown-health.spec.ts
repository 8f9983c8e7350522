import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answer, OwnerService, type Call } from '../support/owner-service.js';
import { Fleet } from '../support/fleet.js';
import type { TestProcess } from '../support/process.js';
import { until } from '../support/until.js';

const DRAINING = { livez: 200, readyz: 503, isDraining: true, metrics: 200 };
/** Between the last answered probe and the exit: one more probe, and the exit itself. */
const AT_THE_END_MS = 1_500;

/** What a probe observes of real processes between SIGTERM and their exit. */
describe('after SIGTERM health is served', () => {
  let fleet: Fleet;
  beforeEach(async () => {
    fleet = await Fleet.start({ workers: 1 });
  });
  afterEach(() => fleet.stop());

  it('by a worker until its last run has ended', async () => {
    const [worker] = fleet.workers;
    const id = await fleet.probe({ ms: 4_000 });
    await fleet.untilState(id, 'running');

    worker!.kill('SIGTERM');
    await expectHealthUntilExit(worker!, 1_000);
    expect((await fleet.job(id)).state).toBe('completed');
  });

  it('by a janitor until its current sweep has ended', async () => {
    const service = await OwnerService.start();
    const asked = new Promise<Call>((resolve) => (service.behave = resolve));
    const resolvers = join(fleet.artifacts, 'resolvers.json');
    await writeFile(resolvers, JSON.stringify({ ride: { http: { url: service.url } } }));
    await fleet.probe({ ms: 60_000 }, { owners: ['ride:1'] });
    const janitor = fleet.addJanitor({
      OWNER_RESOLVERS: resolvers,
      ORPHAN_SWEEP_EVERY: '200ms',
      OWNER_GRACE: '0',
    });
    await fleet.untilReady(janitor);
    const call = await asked;

    janitor.kill('SIGTERM');
    const health = expectHealthUntilExit(janitor, 500);
    await pause(800);
    answer(call, { alive: call.ids });
    await health;
    await service.stop();
    await fleet.request('POST', '/v1/owners/ride/1/cancel', { reason: 'the test is over' });
  });

  it('by an api that still answers a request, while it refuses new ones', async () => {
    const slow = await beginSlowRequest(fleet.api);
    fleet.api.kill('SIGTERM');
    await until(async () => (await look(fleet.api)).readyz === 503, 'it drains', 2_000);
    const refused = await fleet.request('POST', '/v1/jobs', {
      kind: 'probe',
      owners: ['trip:1'],
      payload: {},
    });
    expect({
      status: refused.status,
      code: refused.body['code'],
      after: refused.headers.get('retry-after'),
    }).toEqual({ status: 503, code: 'SHUTTING_DOWN', after: '1' });
    expect(await look(fleet.api)).toEqual(DRAINING);

    expect(await slow.finish()).toMatch(/^HTTP\/1\.1 201 /);
    expect(await fleet.api.exited).toEqual({ code: 0, signal: null });
  });

  it('and jobs are accepted by an api for SHUTDOWN_READY_DELAY before it closes', async () => {
    const api = fleet.addApi({ SHUTDOWN_READY_DELAY: '4s' });
    await fleet.untilReady(api);
    fleet.api.kill('SIGTERM');
    await fleet.api.exited;
    fleet.api = api;

    const began = performance.now();
    api.kill('SIGTERM');
    await until(async () => (await look(api)).readyz === 503, 'it drains', 2_000);
    const id = await fleet.probe({ ms: 0 });
    await fleet.untilState(id, 'completed', 2_000);
    expect(await look(api)).toEqual(DRAINING);
    expect(await api.exited).toEqual({ code: 0, signal: null });
    expect(performance.now() - began).toBeGreaterThan(4_000);
  });

  it('and a delay that leaves no time for the shutdown is refused', async () => {
    const api = fleet.addApi({ SHUTDOWN_READY_DELAY: '30s' });
    expect(await api.exited).toMatchObject({ code: 1 });
    expect(api.output).toContain(
      'SHUTDOWN_READY_DELAY: expected less than SHUTDOWN_TIMEOUT (25000 ms), of which it is a part',
    );
  });
});

/** Probes until there is no answer: each is 503 with `draining`, and the last one is right before the exit. */
async function expectHealthUntilExit(process: TestProcess, atLeastMs: number): Promise<void> {
  await until(async () => (await look(process)).readyz === 503, 'it drains', 3_000);
  const began = performance.now();
  let lastAnswer = began;
  const exit = process.exited.then((how) => ({ how, at: performance.now() }));
  for (let sight = await look(process).catch(() => undefined); sight;) {
    expect(sight).toEqual(DRAINING);
    lastAnswer = performance.now();
    await pause(20);
    sight = await look(process).catch(() => undefined);
  }
  const { how, at } = await exit;
  expect(how).toEqual({ code: 0, signal: null });
  expect(lastAnswer - began).toBeGreaterThan(atLeastMs);
  expect(at - lastAnswer).toBeLessThan(AT_THE_END_MS);
}

async function look({ url }: TestProcess): Promise<typeof DRAINING> {
  const [livez, readyz, metrics] = await Promise.all(
    ['livez', 'readyz', 'metrics'].map((path) =>
      fetch(`${url}/${path}`, { headers: { connection: 'close' } }),
    ),
  );
  const { why } = (await readyz!.json()) as { why: string[] };
  await Promise.all([livez!.text(), metrics!.text()]);
  return {
    livez: livez!.status,
    readyz: readyz!.status,
    isDraining: why.includes('draining'),
    metrics: metrics!.status,
  };
}

/** Sends a request for a job except for its last byte. */
async function beginSlowRequest({ url }: TestProcess): Promise<{ finish(): Promise<string> }> {
  const { hostname, port } = new URL(url!);
  const body = JSON.stringify({ kind: 'probe', owners: ['trip:2'], payload: {} });
  const socket: Socket = connect(Number(port), hostname);
  const head = `POST /v1/jobs HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\n`;
  const rest = `content-length: ${body.length}\r\nconnection: close\r\nexpect: 100-continue\r\n\r\n`;
  socket.write(head + rest);
  // The api has the request when it asks for the body.
  await new Promise((resolve) => socket.once('data', resolve));
  socket.write(body.slice(0, -1));
  return {
    finish() {
      socket.write(body.slice(-1));
      return text(socket);
    },
  };
}
