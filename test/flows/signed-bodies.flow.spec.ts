import { createHash, createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Fleet, type Answer } from '../support/fleet.js';
import { problemIn, RawClient } from '../support/raw-client.js';
import { until } from '../support/until.js';

const MOST_AT_ONCE = 32;
const SECRET = Buffer.alloc(32, 7);
const EVENT = '{"specversion":"1.0","id":"1","source":"/trips","type":"trip.seen"}';
const STRUCTURED = 'application/cloudevents+json';
const KEY = { authorization: 'Bearer ops-key' };

function signed(secret = SECRET, ageS = 0): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000) - ageS);
  const hmac = createHmac('sha256', secret).update(`m.${timestamp}.${EVENT}`).digest('base64');
  return { 'webhook-id': 'm', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${hmac}` };
}

describe('the bodies of signed events', () => {
  let fleet: Fleet;
  let clients: RawClient[] = [];
  beforeAll(async () => {
    const hash = createHash('sha256').update('ops-key').digest('hex');
    fleet = await Fleet.start({
      workers: 0,
      env: { API_KEYS: `ops:cancel:${hash}`, EVENT_SECRETS: `whsec_${SECRET.toString('base64')}` },
    });
  });
  afterEach(() => {
    for (const client of clients) client.close();
    clients = [];
  });
  afterAll(() => fleet.stop());

  /** Sends the head of an event and a part of its body. */
  async function begin(headers: Record<string, string>): Promise<RawClient> {
    const client = await RawClient.connect(fleet.url);
    clients.push(client);
    const all = { host: 'a', 'content-type': STRUCTURED, 'content-length': '1000000', ...headers };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    client.write(`POST /v1/events HTTP/1.1\r\n${lines.join('')}\r\n{`);
    return client;
  }

  const send = (headers: Record<string, string>): Promise<Answer> =>
    fleet.request('POST', '/v1/events', EVENT, { 'content-type': STRUCTURED, ...headers });

  it.each<[string, Record<string, string>]>([
    ['none of the headers', {}],
    ['no id', { 'webhook-timestamp': '1', 'webhook-signature': 'v1,x' }],
    ['a timestamp six minutes old', signed(SECRET, 360)],
    ['a timestamp that is not a number', { ...signed(), 'webhook-timestamp': 'now' }],
    ['a signature of another form', { ...signed(), 'webhook-signature': 'v1,x' }],
  ])('are not awaited from a stranger with %s', async (_what, headers) => {
    const client = await begin(headers);
    await until(() => client.received.includes('}'), 'it is answered');
    expect(problemIn(client.received)).toMatchObject({ status: 401, code: 'BAD_SIGNATURE' });
  });

  it('are read 32 at once from strangers, without a limit from callers with a key, and more once they end', async () => {
    const forged = signed(Buffer.alloc(32, 8));
    for (let i = 0; i < MOST_AT_ONCE; i += 1) await begin(forged);
    const refused = await until(async () => {
      const answer = await send(signed());
      return answer.status === 503 && answer;
    }, 'no more are read');
    expect(refused.body).toMatchObject({ code: 'EVENTS_BUSY' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await send({ ...signed(), ...KEY })).toMatchObject({ status: 200 });
    expect(clients.map(({ received }) => received).join('')).toBe('');

    clients[0]!.close();
    await until(async () => (await send(signed())).status === 200, 'there is room for one');
    // An answered request no longer counts.
    for (let i = 0; i < 2; i += 1) expect(await send(signed())).toMatchObject({ status: 200 });
  });
});
