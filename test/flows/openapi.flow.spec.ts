import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MooringClient } from '#client';
import { checkAnswer, Contract, type Operation } from '../support/contract.js';
import { Fleet } from '../support/fleet.js';
import { root } from '../support/process.js';
import { until } from '../support/until.js';

const contract = new Contract();
const JSON_TYPE = 'application/json';

interface Exchanged {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

describe('docs/openapi.json, at an api', () => {
  let fleet: Fleet;
  let folder: string;
  const asked = new Set<string>();
  const unshown: string[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mooring-openapi-'));
    const EVENT_MAP = join(folder, 'events.json');
    await writeFile(EVENT_MAP, JSON.stringify([{ type: 'trip.cancelled', owner: 'trip:{subject}' }]));
    fleet = await Fleet.start({ workers: 1, env: { EVENT_MAP } });
  });
  afterAll(async () => {
    await fleet.stop();
    await rm(folder, { recursive: true });
  });

  it('is what the api serves, and the types of libs/client are those of it', async () => {
    const script = join(root, 'scripts/openapi.mjs');
    const { stderr } = await promisify(execFile)(process.execPath, [script, '--check', fleet.url]).catch(
      (error: { stderr: string }) => error,
    );
    expect(stderr).toBe('');
  });

  it('has examples of jobs that the api accepts', async () => {
    const { id } = (await expectAccepted('enqueueJob')).body as { id: string };
    await fleet.untilState(id, 'completed');
    for (const read of ['readJob', 'readJobPayload', 'readJobLog']) await expectAccepted(read, { id });
    await expectAccepted('enqueueJobs');
    await expectAccepted('listJobs', {}, '?state=completed&limit=1');
    const made = await fleet.probe({ artifactBytes: 2_048 });
    const failed = await fleet.probe({ failTimes: 100 });
    await fleet.untilState(made, 'completed');
    await expectAccepted('readArtifact', { id: made });
    await fleet.untilState(failed, 'failed');
    await expectAccepted('retryJob', { id: failed });
    const delayed = await fleet.probe({}, { delay: '1h' });
    await expectAccepted('setJobPriority', { id: delayed });
    await expectAccepted('promoteJob', { id: delayed });
    await expectAccepted('cancelJob', { id: await fleet.probe({}, { delay: '1h' }) });
    await expectAccepted('readFlow', { jobId: (await expectAccepted('enqueueFlow')).body['id'] });
    for (const schedule of ['putSchedule', 'readSchedule', 'listSchedules', 'deleteSchedule'])
      await expectAccepted(schedule);
  });

  it('has examples for operators that the api accepts', async () => {
    await expectAccepted('setSlotLimit');
    await expectAccepted('streamChanges');
    const plain = [
      'readSlot',
      'readCaller',
      'listKinds',
      'listWorkers',
      'readLoad',
      'listQueues',
      'pauseQueue',
      'resumeQueue',
    ];
    for (const each of [...plain, 'listQuarantine']) await expectAccepted(each);
    const { operationId } = (await expectAccepted('startOperation')).body;
    for (const each of ['readOperation', 'listOperations', 'stopOperation'])
      await expectAccepted(each, { operationId });
    const { sweepId } = (await expectAccepted('requestSweep')).body;
    await expectAccepted('readSweep', { sweep: sweepId });
    await expectAccepted('listSweeps');
    await expectAccepted('listAudit');
  });

  it('has examples of the workloads that the api accepts', async () => {
    const { id: site } = (await expectAccepted('createSite')).body;
    for (const each of ['putEntity', 'readSite', 'deleteEntity', 'deleteSite'])
      await expectAccepted(each, { id: site });
    await expectAccepted('readDiagram', { id: (await expectAccepted('createDiagram')).body['id'] });
    await expectAccepted('setDriverAvailable');
    await expectAccepted('setDriverAvailable', { id: 'driver-8' });
    await expectAccepted('streamOffers');
    const { id: trip } = (await expectAccepted('createTrip')).body;
    // Until the drivers were asked.
    for (const each of ['declineTrip', 'acceptTrip']) await expectSoonAccepted(each, { id: trip });
    for (const each of ['readTrip', 'completeTrip']) await expectAccepted(each, { id: trip });
    await expectAccepted('cancelTrip', { id: (await expectAccepted('createTrip')).body['id'] });
    const { id: lease } = (await expectAccepted('createLease')).body;
    await until(
      async () => (await expectAccepted('readLease', { id: lease })).body['state'] === 'running',
      'the lease runs',
    );
    await expectAccepted('renewLease', { id: lease });
    await expectAccepted('listLeases');
    // A lease that can be cleaned up by hand needs an engine that is gone.
    expect((await exchange('cleanUpLease', { id: lease })).body['code']).toBe('NOT_FOR_CLEANUP');
    await expectAccepted('endLease', { id: lease });
    await until(
      async () => (await exchange('readLease', { id: lease })).body['state'] === 'ended',
      'the lease has ended',
    );
  });

  it('has examples of owners and events that the api accepts', async () => {
    await fleet.probe({}, { delay: '1h' });
    for (const each of ['readOwner', 'listOwners']) await expectAccepted(each);
    const { cancelId } = (await expectAccepted('cancelOwner')).body;
    expect((await expectAccepted('takeEvents')).body['results']).toMatchObject([{ outcome: 'cancelled' }]);
    for (const each of ['readOwnerHistory', 'reopenOwner']) await expectAccepted(each);
    await expectAccepted('readCancellation', { cancelId });
    await expectAccepted('listCancellations');
  });

  it('is what the calls of libs/client are made of', async () => {
    const client = new MooringClient({ url: fleet.url });
    const body = { kind: 'probe', owners: ['call:1'], payload: { artifactBytes: 3 } };
    const { id } = await client.call('POST /v1/jobs', { body, header: { 'Idempotency-Key': 'one' } });
    expect(await client.call('POST /v1/jobs', { body, header: { 'Idempotency-Key': 'one' } })).toMatchObject({
      id,
    });
    await fleet.untilState(id, 'completed');
    const { jobs, cursor } = await client.call('GET /v1/jobs', { query: { owner: 'call:1', limit: 5 } });
    expect([jobs.map((job) => [job.id, job.state]), cursor]).toEqual([[[id, 'completed']], null]);
    const path = { id, name: 'probe.bin' };
    const artifact = await client.call('GET /v1/jobs/{id}/artifacts/{name}', { path });
    expect((await artifact.arrayBuffer()).byteLength).toBe(3);
    const refused = client.call('POST /v1/jobs/{id}/retry', { path: { id } });
    await expect(refused).rejects.toMatchObject({ status: 409, code: 'NOT_FAILED' });
    const none = client.call('DELETE /v1/schedules/{id}', { path: { id: 'none' } });
    await expect(none).rejects.toMatchObject({ code: 'NOT_FOUND', requestId: expect.any(String) });
  });

  it('has no example that was not sent, and none of an answer that lacks a member', () => {
    const all = contract.operations.map(([, { operationId }]) => operationId);
    expect(all.filter((id) => !asked.has(id!))).toEqual([]);
    expect(unshown).toEqual([]);
  });

  /** Sends the example of an operation, and finds what is wrong with the answer, or with the example of it. */
  async function expectAccepted(
    id: string,
    path: Record<string, unknown> = {},
    query = '',
  ): Promise<Exchanged> {
    const answer = await exchange(id, path, query);
    expect({ id, ...answer }).toMatchObject({ status: expect.toSatisfy((status) => status < 300) });
    const content = operationOf(id)[1].responses[answer.status]?.content?.[JSON_TYPE];
    const shown = Object.keys(content?.example ?? {});
    const missing = Object.keys(answer.body).filter((key) => content && !shown.includes(key));
    if (missing.length > 0) unshown.push(`${id} ${answer.status}: ${missing.join()}`);
    return answer;
  }

  function expectSoonAccepted(id: string, path: Record<string, unknown>): Promise<unknown> {
    return until(async () => (await exchange(id, path)).status === 200, `${id} is accepted`);
  }

  async function exchange(id: string, path: Record<string, unknown> = {}, query = ''): Promise<Exchanged> {
    const [name, { parameters = [], requestBody }] = operationOf(id);
    const [method = '', template = ''] = name.split(' ');
    const values = { ...Object.fromEntries(parameters.map((each) => [each.name, each.example])), ...path };
    const url = template.replaceAll(/\{(\w+)\}/g, (_, key: string) =>
      encodeURIComponent(String(values[key])),
    );
    const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
    const gone = new AbortController();
    const response = await fetch(`${fleet.url}${url}${query}`, {
      method,
      signal: gone.signal,
      ...(type && { headers: { 'content-type': type }, body: JSON.stringify(content!.example) }),
    });
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    const body = isJson ? ((await response.json()) as Record<string, unknown>) : {};
    // A stream has no end.
    if (!isJson) gone.abort();
    checkAnswer(method, url, { status: response.status, body });
    asked.add(id);
    return { status: response.status, body };
  }
});

function operationOf(id: string): [name: string, operation: Operation] {
  const found = contract.operations.find(([, { operationId }]) => operationId === id);
  if (!found) throw new Error(`No operation is named ${id}.`);
  return found;
}
