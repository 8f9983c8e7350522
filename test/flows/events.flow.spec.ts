import { Redis } from 'ioredis';
import { createHash, createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fleet, type Answer } from '../support/fleet.js';
import { TestProcess } from '../support/process.js';
import { TestStore } from '../support/store.js';
import { until } from '../support/until.js';

const STRUCTURED = 'application/cloudevents+json';
const BATCH = 'application/cloudevents-batch+json';
const CLOSED = { status: 409, body: { code: 'OWNER_CLOSED' } };
const RULES = [
  { type: 'trip.cancelled', owner: 'trip:{subject}' },
  { type: 'trip.paused', owner: 'trip:{subject}', close: false },
  { type: 'site.deleted', owner: 'site:{data.site.id}' },
];

let folder: string;
let EVENT_MAP: string;
let events = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mooring-events-'));
  EVENT_MAP = join(folder, 'events.json');
  await writeFile(EVENT_MAP, JSON.stringify(RULES));
});
afterAll(() => rm(folder, { recursive: true }));

function anEvent(more: object = {}): Record<string, unknown> {
  return { specversion: '1.0', id: `e-${(events += 1)}`, source: '/trips', type: 'trip.cancelled', ...more };
}

function send(fleet: Fleet, event: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const type = Array.isArray(event) ? BATCH : STRUCTURED;
  return fleet.request('POST', '/v1/events', event, { 'content-type': type, ...headers });
}

function enqueue(fleet: Fleet, owner: string, headers: Record<string, string> = {}): Promise<Answer> {
  return fleet.request('POST', '/v1/jobs', { kind: 'probe', owners: [owner], payload: {} }, headers);
}

describe('an event by HTTP', () => {
  let fleet: Fleet;
  beforeAll(async () => (fleet = await Fleet.start({ workers: 0, env: { EVENT_MAP } })));
  afterAll(() => fleet.stop());

  it('cancels and closes its owner', async () => {
    await enqueue(fleet, 'trip:structured');
    const answer = await send(fleet, anEvent({ id: 'first', subject: 'structured' }));
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toEqual({
      results: [
        {
          status: 200,
          id: 'first',
          source: '/trips',
          outcome: 'cancelled',
          owner: 'trip:structured',
          cancelId: expect.stringMatching(/^event:[\w-]{22}$/),
        },
      ],
    });
    expect(await enqueue(fleet, 'trip:structured')).toMatchObject(CLOSED);
  });

  it('leaves the owner open when its rule says so', async () => {
    await send(fleet, anEvent({ type: 'trip.paused', subject: 'paused' }));
    expect(await enqueue(fleet, 'trip:paused')).toMatchObject({ status: 201 });
  });

  it('may have its attributes in headers and its data in the body', async () => {
    const headers = {
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-id': 'b-1',
      'ce-source': '/sites',
      'ce-type': 'site.deleted',
    };
    const answer = await fleet.request('POST', '/v1/events', { site: { id: 7 } }, headers);
    expect(answer).toMatchObject({
      status: 200,
      body: { results: [{ outcome: 'cancelled', owner: 'site:7' }] },
    });
    expect(await enqueue(fleet, 'site:7')).toMatchObject(CLOSED);
  });

  it('may have percent-encoded headers and data of another format', async () => {
    const headers = {
      'content-type': 'text/xml',
      'ce-specversion': '1.0',
      'ce-id': 'b-2',
      'ce-source': '/trips',
      'ce-type': 'trip.cancelled',
      'ce-subject': 'caf%C3%A9',
    };
    const answer = await fleet.request('POST', '/v1/events', '<trip/>', headers);
    expect(answer.body).toMatchObject({ results: [{ outcome: 'cancelled', owner: 'trip:café' }] });
  });

  it('may have quoted headers, but no bytes that are not UTF-8', async () => {
    const binary = (subject: string, id = 'b-3'): Promise<Answer> =>
      fleet.request('POST', '/v1/events', '', {
        'content-type': 'text/plain',
        'ce-specversion': '1.0',
        'ce-id': `"${id}"`,
        'ce-source': '/trips',
        'ce-type': 'trip.cancelled',
        'ce-subject': subject,
      });
    expect((await binary('"half \\"a\\" trip, 100%"')).body).toMatchObject({
      results: [{ outcome: 'cancelled', id: 'b-3', owner: 'trip:half "a" trip, 100%' }],
    });
    // Each letter is a byte here: an é in UTF-8 and in Latin-1.
    expect((await binary('raw caf\xc3\xa9', 'b-raw')).body).toMatchObject({
      results: [{ owner: 'trip:raw café' }],
    });
    for (const subject of ['caf%E9', '%C0%A0', '%ED%A0%80', 'caf\xe9']) {
      expect(await binary(subject)).toMatchObject({
        status: 400,
        body: { code: 'INVALID', detail: expect.stringMatching(/ce-subject has bytes that are not UTF-8/) },
      });
    }
  });

  it('may have the content type JSON, alone or in a batch', async () => {
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    const alone = await send(fleet, anEvent({ subject: 'plain' }), headers);
    expect(alone).toMatchObject({ status: 200, body: { results: [{ owner: 'trip:plain' }] } });
    const batch = await send(fleet, [anEvent({ subject: 'plain-2' }), {}], headers);
    expect(batch).toMatchObject({
      status: 200,
      body: { results: [{ status: 200, owner: 'trip:plain-2' }, { status: 400 }] },
    });
    expect(await send(fleet, [{}], headers)).toMatchObject({ status: 400, body: { code: 'INVALID' } });
    // When the attributes are in headers the body is data, even if it looks like an event.
    const about = {
      'ce-specversion': '1.0',
      'ce-id': 'b-4',
      'ce-source': '/trips',
      'ce-type': 'trip.cancelled',
    };
    const inner = await send(fleet, anEvent({ subject: 'inner' }), {
      ...headers,
      ...about,
      'ce-subject': 'outer',
    });
    expect(inner).toMatchObject({ status: 200, body: { results: [{ id: 'b-4', owner: 'trip:outer' }] } });
    expect(await enqueue(fleet, 'trip:inner')).toMatchObject({ status: 201 });
  });

  it('in a batch is answered separately and in order', async () => {
    const batch = [
      anEvent({ subject: 'many-1' }),
      anEvent({ type: 'trip.seen', id: 'seen' }),
      anEvent({ source: undefined }),
      anEvent(),
      'nonsense',
      anEvent({ subject: 'many-2' }),
    ];
    const answer = await send(fleet, batch, { 'x-request-id': 'batch' });
    expect(answer.status).toBe(200);
    expect(answer.body['results']).toMatchObject([
      { status: 200, outcome: 'cancelled', owner: 'trip:many-1' },
      { status: 200, id: 'seen', outcome: 'ignored', why: expect.stringMatching(/type/) },
      {
        status: 400,
        code: 'INVALID',
        detail: expect.stringMatching(/source is missing/),
        requestId: 'batch',
      },
      { status: 400, code: 'INVALID', detail: expect.stringMatching(/subject is missing/) },
      { status: 400, code: 'INVALID', detail: expect.stringMatching(/not a JSON object/) },
      { status: 200, outcome: 'cancelled', owner: 'trip:many-2' },
    ]);
    expect(await enqueue(fleet, 'trip:many-2')).toMatchObject(CLOSED);
  });

  it('is one of at most 1000 in a batch', async () => {
    const batch = Array.from({ length: 1_000 }, (_, i) => anEvent({ subject: `thousand-${i}` }));
    const answer = await send(fleet, batch);
    const results = answer.body['results'] as { owner: string; outcome: string }[];
    expect(results.map(({ owner, outcome }) => `${owner} ${outcome}`)).toEqual(
      batch.map(({ subject }) => `trip:${String(subject)} cancelled`),
    );
    expect(await send(fleet, [...batch, anEvent()])).toMatchObject({
      status: 400,
      body: { code: 'INVALID' },
    });
    expect(await send(fleet, [])).toMatchObject({ status: 200, body: { results: [] } });
  });

  it('makes the same cancellation when it is repeated, and another one when it has another source', async () => {
    const event = anEvent({ subject: 'again' });
    const [first, again, other] = [
      await send(fleet, event),
      await send(fleet, [event]),
      await send(fleet, { ...event, source: '/rides' }),
    ].map(({ body }) => (body['results'] as { cancelId: string }[])[0]!.cancelId);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  it.each<[string, unknown, Record<string, string>, number, RegExp]>([
    ['no id', anEvent({ id: undefined }), {}, 400, /id is missing/],
    ['another version', anEvent({ specversion: '2.0' }), {}, 400, /specversion is not 1.0/],
    ['an invalid time', anEvent({ time: 'yesterday' }), {}, 400, /time is not a time/],
    ['no subject, which its rule needs', anEvent(), {}, 400, /subject is missing/],
    ['a body that is not JSON', '{', {}, 400, /not JSON/],
    ['no body', '', {}, 400, /specversion is missing/],
    ['a poisoned prototype', '{"__proto__":{"specversion":"1.0","id":"x"}}', {}, 400, /id is missing/],
    ['deep nesting', `${'['.repeat(2e5)}${']'.repeat(2e5)}`, {}, 400, /not a JSON object/],
    ['a body of two megabytes', anEvent({ data: 'x'.repeat(2 ** 21) }), {}, 413, /./],
    ['a batch that is not a list', anEvent(), { 'content-type': BATCH }, 400, /JSON array/],
    ['another format', 'x', { 'content-type': 'application/cloudevents+avro' }, 415, /cloudevents\+json/],
    [
      'no attributes at all',
      {},
      { 'content-type': 'application/json' },
      400,
      /specversion is missing.*ce-id/,
    ],
  ])('is refused with %s', async (_what, event, headers, status, detail) => {
    const answer = await send(fleet, event, headers);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(answer).toMatchObject({ status, body: { status, detail: expect.stringMatching(detail) } });
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', STRUCTURED, ''])(
    'has a route of its own: elsewhere a body of type %j is refused',
    async (type) => {
      const answer = await fleet.request('POST', '/v1/jobs', 'kind=probe', { 'content-type': type });
      expect(answer).toMatchObject({ status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE' } });
    },
  );
});

describe('a batch of events while the store is unavailable', () => {
  let store: TestStore;
  let fleet: Fleet;
  beforeAll(async () => {
    store = await TestStore.start();
    fleet = await Fleet.start({ storeUrl: store.url, workers: 0, env: { EVENT_MAP } });
  });
  afterAll(async () => {
    await fleet.stop();
    await store.stop();
  });

  it('is refused whole, so that its sender repeats it', async () => {
    const batch = [anEvent({ subject: '1' }), anEvent(), anEvent({ subject: '2' })];
    store.freeze();
    const refused = await send(fleet, batch);
    store.thaw();
    expect(refused).toMatchObject({ status: 503, body: { status: 503, code: 'STORE_UNAVAILABLE' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const again = await until(async () => {
      const answer = await send(fleet, batch);
      return answer.status === 200 && answer;
    }, 'it is accepted');
    expect(again.body['results']).toMatchObject([
      { status: 200, outcome: 'cancelled' },
      { status: 400 },
      { status: 200, outcome: 'cancelled' },
    ]);
  });
});

describe('the authentication of events', () => {
  const hash = (key: string): string => createHash('sha256').update(key).digest('hex');
  const API_KEYS = `ops:cancel:${hash('ops-key')},shop:enqueue:${hash('shop-key')}`;
  const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
  const [OLD, NEW, FOREIGN] = [1, 2, 3].map((n) => Buffer.alloc(32, n)) as [Buffer, Buffer, Buffer];
  const written = (secret: Buffer): string => `whsec_${secret.toString('base64')}`;

  function signed(secret: Buffer, body: string, ageS = 0, id = 'msg_1'): Record<string, string> {
    const timestamp = String(Math.floor(Date.now() / 1_000) - ageS);
    const hmac = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
    return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${hmac}` };
  }

  describe('with api keys', () => {
    let fleet: Fleet;
    beforeAll(async () => {
      fleet = await Fleet.start({ workers: 0, env: { EVENT_MAP, API_KEYS, PROBE: 'on' } });
    });
    afterAll(() => fleet.stop());

    it('requires a key with the scope cancel', async () => {
      const event = anEvent({ subject: '1' });
      expect(await send(fleet, event)).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } });
      expect(await send(fleet, event, bearer('shop-key'))).toMatchObject({ status: 403 });
      expect(await send(fleet, event, signed(OLD, JSON.stringify(event)))).toMatchObject({ status: 401 });
      expect(await enqueue(fleet, 'trip:1', bearer('shop-key'))).toMatchObject({ status: 201 });
      expect(await send(fleet, event, bearer('ops-key'))).toMatchObject({ status: 200 });
    });
  });

  describe('with secrets', () => {
    let fleet: Fleet;
    beforeAll(async () => {
      const EVENT_SECRETS = `${written(NEW)},${written(OLD)}`;
      fleet = await Fleet.start({ workers: 0, env: { EVENT_MAP, API_KEYS, EVENT_SECRETS, PROBE: 'on' } });
    });
    afterAll(() => fleet.stop());

    async function expectNothingDone(subject: string): Promise<void> {
      expect(await enqueue(fleet, `trip:${subject}`, bearer('shop-key'))).toMatchObject({ status: 201 });
    }

    it.each([
      ['the new secret', NEW, 0],
      ['the old secret', OLD, 0],
      ['a timestamp four minutes old', NEW, 240],
      ['a timestamp four minutes ahead', NEW, -240],
    ])('accepts a signature with %s, without a key', async (_what, secret, ageS) => {
      const event = JSON.stringify(anEvent({ subject: 'signed' }));
      expect(await send(fleet, event, signed(secret, event, ageS))).toMatchObject({ status: 200 });
    });

    it('accepts a signed batch', async () => {
      const batch = JSON.stringify([anEvent({ subject: 'signed' })]);
      const headers = { 'content-type': BATCH, ...signed(NEW, batch) };
      expect(await send(fleet, batch, headers)).toMatchObject({ status: 200 });
    });

    it('accepts a signed event with the content type JSON, because all of it is in the body', async () => {
      const event = JSON.stringify(anEvent({ subject: 'signed' }));
      const headers = { 'content-type': 'application/json', ...signed(NEW, event) };
      expect(await send(fleet, event, headers)).toMatchObject({ status: 200 });
    });

    it('gives a repeated event the same answer', async () => {
      const event = JSON.stringify(anEvent({ subject: 'replayed' }));
      const headers = signed(NEW, event, 200);
      const first = await send(fleet, event, headers);
      expect(await send(fleet, event, headers)).toMatchObject({ status: 200, body: first.body });
    });

    it('refuses a caller that only has a key', async () => {
      const answer = await send(fleet, anEvent({ subject: 'keyed' }), bearer('ops-key'));
      expect(answer).toMatchObject({ status: 401, body: { code: 'BAD_SIGNATURE' } });
      await expectNothingDone('keyed');
    });

    it.each<[string, (body: string) => { body: string; headers: Record<string, string> }]>([
      [
        'a byte is changed',
        (body) => ({ body: body.replace('forged', 'forgee'), headers: signed(NEW, body) }),
      ],
      ['it is serialized again', (body) => ({ body: `${body} `, headers: signed(NEW, body) })],
      ['it is six minutes old', (body) => ({ body, headers: signed(NEW, body, 360) })],
      ['it is dated six minutes ahead', (body) => ({ body, headers: signed(NEW, body, -360) })],
      ['the secret is unknown', (body) => ({ body, headers: signed(FOREIGN, body) })],
      ['it has another id', (body) => ({ body, headers: { ...signed(NEW, body), 'webhook-id': 'm' } })],
      ['the secret is empty', (body) => ({ body, headers: signed(Buffer.alloc(0), body) })],
    ])('refuses a signed event when %s', async (_what, forge) => {
      const { body, headers } = forge(JSON.stringify(anEvent({ subject: 'forged' })));
      const answer = await send(fleet, body, headers);
      expect(answer).toMatchObject({ status: 401, body: { code: 'BAD_SIGNATURE' } });
      expect(answer.headers.get('www-authenticate')).toBeNull();
      await expectNothingDone('forged');
      await expectNothingDone('forgee');
    });

    it('refuses attributes in headers, which no signature covers', async () => {
      const body = '{"site":{"id":7}}';
      const headers = {
        ...signed(NEW, body),
        'content-type': 'application/json',
        'ce-specversion': '1.0',
        'ce-id': '1',
        'ce-source': '/trips',
        'ce-type': 'trip.cancelled',
        'ce-subject': 'headers',
      };
      const answer = await fleet.request('POST', '/v1/events', body, headers);
      expect(answer).toMatchObject({ status: 415, body: { detail: expect.stringMatching(/cover/) } });
      await expectNothingDone('headers');
    });

    it('requires a key for every other route', async () => {
      const event = JSON.stringify(anEvent());
      expect(await enqueue(fleet, 'trip:1', signed(NEW, event))).toMatchObject({ status: 401 });
    });

    it('never writes a secret to the log', () => {
      for (const secret of [OLD, NEW]) expect(fleet.api.output).not.toContain(secret.toString('base64'));
    });
  });
});

async function untilClosed(fleet: Fleet, owner: string): Promise<void> {
  await until(async () => (await enqueue(fleet, owner)).status === 409, `${owner} is closed`);
}

/** The published events, from the stream. */
async function told(redis: Redis, fleet: Fleet): Promise<Record<string, unknown>[]> {
  const entries = await redis.xrange(`${fleet.prefix}:events:out`, '-', '+');
  return entries.map(([, [, event]]) => JSON.parse(event!) as Record<string, unknown>);
}

describe('events from a stream', () => {
  let fleet: Fleet;
  let redis: Redis;
  beforeAll(async () => {
    fleet = await Fleet.start({ janitor: true, env: { EVENT_MAP, EVENTS_OUT: 'all' } });
    redis = new Redis(fleet.storeUrl);
  });
  afterAll(async () => {
    await redis.quit();
    await fleet.stop();
  });

  const add = (event: object | string): Promise<string | null> => {
    const text = typeof event === 'string' ? event : JSON.stringify(event);
    return redis.xadd(`${fleet.prefix}:events:in`, '*', 'event', text);
  };

  it('cancel the owner they are about', async () => {
    await add(anEvent({ subject: 'by-stream' }));
    await untilClosed(fleet, 'trip:by-stream');
    expect(await enqueue(fleet, 'trip:by-stream')).toMatchObject(CLOSED);
  });

  it('move to the dead letters when they are invalid, and delay no other event', async () => {
    const entry = await add('nonsense');
    await add(anEvent({ subject: 'behind' }));
    await untilClosed(fleet, 'trip:behind');
    const dead = await until(async () => {
      const entries = await redis.xrange(`${fleet.prefix}:events:dead`, '-', '+');
      return entries.length > 0 && entries;
    }, 'it is a dead letter');
    expect(dead.map(([, fields]) => fields)).toEqual([
      ['event', 'nonsense', 'entry', entry, 'reason', expect.stringMatching(/not JSON/)],
    ]);
    await until(() => {
      const logged = fleet.processes.flatMap((process) => process.facts());
      return logged.some((fact) => fact['event'] === 'event.dead' && fact['entry'] === entry);
    }, 'it is logged');
  });

  it('make the same cancellation as events by HTTP', async () => {
    const event = anEvent({ subject: 'both-roads' });
    const answer = await send(fleet, event);
    await add(event);
    const { cancelId } = (answer.body['results'] as { cancelId: string }[])[0]!;
    await until(() => {
      const taken = fleet.processes.flatMap((process) => process.facts());
      return (
        taken.filter((fact) => fact['event'] === 'event.taken' && fact['cancelId'] === cancelId).length === 2
      );
    }, 'it is accepted twice');
  });

  it('publish cancels and the ends of jobs', async () => {
    const id = await fleet.probe({});
    const failed = await fleet.probe({ failTimes: 3 });
    await send(fleet, anEvent({ subject: 'told' }));
    await until(async () => {
      const all = await told(redis, fleet);
      const has = (type: string, subject: string): boolean =>
        all.some((event) => event['type'] === type && event['subject'] === subject);
      return has('job.completed', id) && has('job.failed', failed) && has('owner.cancelled', 'trip:told');
    }, 'all three are published');
    const all = await told(redis, fleet);
    expect(all.filter(({ subject }) => subject === failed)).toHaveLength(1);
  });

  it('publish a requested sweep, even if it found nothing', async () => {
    const { body } = await fleet.request('POST', '/v1/admin/sweeps/expiry');
    const done = await until(async () => {
      const all = await told(redis, fleet);
      return all.find(({ id }) => id === `sweep.done:${String(body['sweepId'])}`);
    }, 'it is reported');
    expect(done).toMatchObject({ subject: 'expiry', data: { removed: 0, onRequest: true } });
  });
});

describe('the stream of events, where only some janitors have a mapping', () => {
  let fleet: Fleet;
  let redis: Redis;
  beforeAll(async () => {
    fleet = await Fleet.start({ workers: 0, janitor: true });
    redis = new Redis(fleet.storeUrl);
  });
  afterAll(async () => {
    await redis.quit();
    await fleet.stop();
  });

  it('is left alone by the other janitors', async () => {
    const event = JSON.stringify(anEvent({ subject: 'patient' }));
    await redis.xadd(`${fleet.prefix}:events:in`, '*', 'event', event);
    // By then, a janitor that reads the stream has read it.
    const asked = await fleet.request('POST', '/v1/admin/sweeps/expiry');
    const path = `/v1/admin/sweeps/${String(asked.body['sweepId'])}`;
    await until(
      async () => (await fleet.request('GET', path)).body['state'] === 'done',
      'the janitor is at work',
    );

    fleet.addJanitor({ EVENT_MAP });
    await untilClosed(fleet, 'trip:patient');
  });
});

/** Covers a whole cancellation: its receipt, its effect on running jobs, its reopening. */
describe('the cancellation by an event', () => {
  let fleet: Fleet;
  let redis: Redis;
  beforeAll(async () => {
    fleet = await Fleet.start({ janitor: true, env: { EVENT_MAP, EVENTS_OUT: 'all' } });
    redis = new Redis(fleet.storeUrl);
  });
  afterAll(async () => {
    await redis.quit();
    await fleet.stop();
  });

  it('has a receipt under the cancelId', async () => {
    const answer = await send(fleet, anEvent({ subject: 'receipt' }));
    const { cancelId } = (answer.body['results'] as { cancelId: string }[])[0]!;
    expect(await fleet.request('GET', `/v1/cancellations/${cancelId}`)).toMatchObject({
      status: 200,
      body: {
        cancelId,
        owner: 'trip:receipt',
        by: '/trips',
        closed: true,
        reason: expect.stringMatching(/trip.cancelled/),
      },
    });
  });

  it('stops a running job and is published', async () => {
    const id = await fleet.probe({ ms: 60_000 }, { owners: ['trip:running'] });
    await fleet.untilState(id, 'running');
    await send(fleet, anEvent({ subject: 'running' }));
    await fleet.untilState(id, 'cancelled');
    await until(async () => {
      const all = await told(redis, fleet);
      return all.some(({ type, subject }) => type === 'job.cancelled' && subject === id);
    }, 'its end is published');
  });

  it.each([
    ['closed', (subject: string) => send(fleet, anEvent({ subject }))],
    ['open', (subject: string) => enqueue(fleet, `trip:${subject}`)],
    ['unknown', () => undefined],
  ])(
    'does not happen when the owner, which was %s, was reopened after the event',
    async (subject, before) => {
      const time = new Date(Date.now() - 1_000).toISOString();
      await before(subject);
      expect(await fleet.request('POST', `/v1/owners/trip/${subject}/reopen`)).toMatchObject({
        status: 200,
        body: { owner: `trip:${subject}`, state: 'open', epoch: expect.stringMatching(/^\d+$/) as string },
      });
      const { body } = await enqueue(fleet, `trip:${subject}`);
      const late = await send(fleet, anEvent({ subject, time }));
      expect(late.body).toMatchObject({ results: [{ outcome: 'late', owner: `trip:${subject}` }] });
      expect((await fleet.job(body['id'] as string)).state).not.toMatch(/cancelled|removed/);
    },
  );
});

describe('an invalid event mapping', () => {
  it.each(['api', 'janitor'])('keeps the %s from starting and reports every mistake', async (app) => {
    const path = join(folder, 'wrong.json');
    await writeFile(
      path,
      JSON.stringify([
        { type: 'a', owner: 'trip:{who}' },
        { type: 'a', owner: 'trip' },
      ]),
    );
    const child = TestProcess.app(app, { REDIS_URL: 'redis://127.0.0.1:1', PORT: '0', EVENT_MAP: path });
    expect(await child.exited).toEqual({ code: 1, signal: null });
    const lines = child.output.split('\n').filter((line) => line.includes('EVENT_MAP'));
    expect(lines).toEqual([
      expect.stringMatching(/rule 1: \{who\} is unknown/),
      expect.stringMatching(/rule 2: owner: .*type:id/),
      expect.stringMatching(/rule 2: type "a" is already mapped/),
    ]);
  });
});
