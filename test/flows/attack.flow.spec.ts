import { Agent, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setTimeout as pause } from 'node:timers/promises';
import { apiKey } from '../support/api-keys.js';
import { Fleet } from '../support/fleet.js';
import { openFilesOf } from '../support/open-files.js';
import { RawClient } from '../support/raw-client.js';
import { until } from '../support/until.js';

const API_KEYS = apiKey('shop', 'enqueue+read');
const MAX_CONNECTIONS = '100';
const ATTACKERS_OF_EACH = 40;
const HEALTHY_CALLS = 50;
/** How long an attacker waits before it reconnects, because the test does not measure the load on the two cores. */
const AGAIN_MS = 250;

const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nhost: a\r\n${more}\r\n`;
const withKey = 'authorization: Bearer shop\r\n';

/** What each connection of an attacker sends. It reads nothing. */
const ATTACKS: Readonly<Record<string, string>> = {
  'many requests at once, with unread answers': get('/metrics', withKey).repeat(400),
  'as many requests as may wait, with unread answers': get('/docs/swagger-ui-bundle.js', withKey).repeat(11),
  'many requests of a stranger': get('/docs').repeat(200),
  'a request that never ends': 'GET / HTTP/1.1\r\nhost:',
  'a large body without a key':
    'POST /%76%31/jobs/batch HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 30000000\r\n\r\n' +
    'x'.repeat(200_000),
  nothing: '',
};

describe('the api under attack', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await Fleet.start({
      workers: 0,
      env: { API_KEYS, PROBE: 'on', MAX_CONNECTIONS, LOG_LEVEL: 'info' },
    });
  });
  afterAll(() => fleet.stop());

  async function openSockets(): Promise<number> {
    return (await openFilesOf(fleet.api.pid)).filter((name) => name.startsWith('socket:')).length;
  }

  /** Makes one call of a legitimate caller; returns its status. */
  function call(method: string, path: string, agent: Agent | false): Promise<number> {
    const body = method === 'POST' ? JSON.stringify({ kind: 'probe', owners: ['trip:1'], payload: {} }) : '';
    const headers = {
      authorization: 'Bearer shop',
      'content-length': body.length,
      'content-type': 'application/json',
    };
    return new Promise((resolve, reject) => {
      const asked = request(`${fleet.url}${path}`, { method, headers, agent, timeout: 10_000 }, (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode!));
      });
      asked.once('timeout', () => asked.destroy(new Error('no answer within 10 s')));
      asked.once('error', reject).end(body);
    });
  }

  it('answers legitimate callers and keeps its connection limit', async () => {
    // Pages that are built once are built before the measurement.
    for (const path of ['/openapi.json', '/docs/swagger-ui-bundle.js']) await call('GET', path, false);
    const ownSockets = await openSockets();
    const attackers = new Set<RawClient>();
    let isOver = false;
    let endAttack!: () => void;
    const over = new Promise<void>((resolve) => (endAttack = resolve));
    /** Reconnects whenever the connection is closed. */
    const attack = async (text: string): Promise<void> => {
      while (!isOver) {
        const client = await RawClient.connect(fleet.url);
        attackers.add(client);
        client.stopReading();
        client.write(text);
        await Promise.race([new Promise((resolve) => client.socket.once('close', resolve)), over]);
        attackers.delete(client);
        client.close();
        await Promise.race([pause(AGAIN_MS), over]);
      }
    };
    const attacks = Object.values(ATTACKS).flatMap((text) =>
      Array.from({ length: ATTACKERS_OF_EACH }, () => attack(text)),
    );
    await until(() => attackers.size >= 100, 'the attack is under way');

    const kept = new Agent({ keepAlive: true, maxSockets: 1 });
    const answers: Record<string, number> = {};
    let sockets = 0;
    for (let i = 0; i < HEALTHY_CALLS; i += 1) {
      for (const agent of [kept, false] as const) {
        const [method, path] = i % 2 ? ['POST', '/v1/jobs'] : ['GET', '/readyz'];
        const status = await call(method, path, agent).catch(String);
        answers[status] = (answers[status] ?? 0) + 1;
      }
      sockets = Math.max(sockets, await openSockets());
    }
    isOver = true;
    endAttack();
    await Promise.all(attacks);
    kept.destroy();

    expect(answers).toEqual({ 200: HEALTHY_CALLS, 201: HEALTHY_CALLS });
    // Includes the connections to the store, and those that are opening or closing.
    expect(sockets).toBeLessThanOrEqual(ownSockets + Number(MAX_CONNECTIONS) + 10);
  });
});
