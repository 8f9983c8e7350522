import { Journal, OwnerLives, type Fact, type Resolvers } from '#nestjs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { LookupFunction } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasOpenssl, makeCertificates } from '../../../../test/support/certificates.js';
import { answer, OwnerService, send, type Behave } from '../../../../test/support/owner-service.js';
import { until } from '../../../../test/support/until.js';
import { HttpResolver, type HttpResolverOptions } from './http-resolver.js';

const TIMEOUT_MS = 1_000;
const REST_MS = 500;
const CANARIES = { alive: 'canary-a', gone: 'canary-g' };

describe('a service that resolves owners', () => {
  let service: OwnerService;
  let resolver: HttpResolver;
  let failed: string | undefined;

  beforeEach(async () => {
    service = await OwnerService.start();
    failed = undefined;
    use({});
  });
  afterEach(async () => {
    resolver.close();
    await service.stop();
  });

  it('gets the type and the ids, and answers with three lists', async () => {
    use({ authorization: 'Bearer hush' });
    service.behave = (call) => answer(call, { alive: ['a'], gone: ['b'], unknown: ['ü"\\'] });
    expect(await ask(['a', 'b', 'ü"\\'])).toEqual({ a: 'alive', b: 'gone', 'ü"\\': 'unknown' });
    expect(service.calls).toMatchObject([
      {
        type: 'ride',
        ids: ['a', 'b', 'ü"\\'],
        headers: { 'content-type': 'application/json', authorization: 'Bearer hush' },
      },
    ]);
  });

  it('may answer a whole batch of the longest ids', async () => {
    const ids = Array.from({ length: 500 }, (_, i) => `${i}${'\u0001'.repeat(500)}`);
    service.behave = (call) => answer(call, { gone: call.ids });
    expect(new Set(Object.values(await ask(ids)))).toEqual(new Set(['gone']));
  });

  it('may name a charset in its content type', async () => {
    service.behave = ({ response }) =>
      send(response, '{"alive":["a","b"],"gone":[],"unknown":[]}', 'Application/JSON; charset=utf-8');
    expect(await ask(['a', 'b'])).toEqual({ a: 'alive', b: 'alive' });
  });

  const gone: Behave = (call) => answer(call, { gone: call.ids });
  const says = (body: string | Buffer, type?: string): Behave => {
    return ({ response }) => send(response, body, type);
  };
  const withStatus = (status: number, headers: Record<string, string> = {}): Behave => {
    return (call) => {
      call.response.writeHead(status, headers);
      answerBody(call);
    };
  };
  const answerBody: Behave = ({ response, ids }) =>
    response.end(JSON.stringify({ alive: [], gone: ids, unknown: [] }));
  const JSON_TYPE = { 'content-type': 'application/json' };

  it.each<[string, Behave, RegExp]>([
    ['never answers', () => undefined, /did not answer/],
    ['answers with error 500', withStatus(500, JSON_TYPE), /status 500/],
    ['answers with error 503', withStatus(503, JSON_TYPE), /status 503/],
    ['answers with error 404', withStatus(404, JSON_TYPE), /status 404/],
    ['answers that it was created', withStatus(201, JSON_TYPE), /status 201/],
    ['answers with nothing', withStatus(204), /status 204/],
    ['answers with a page', says('<html>login</html>', 'text/html'), /"text\/html", not JSON/],
    ['answers JSON that it calls a text', withStatus(200, { 'content-type': 'text/plain' }), /not JSON/],
    ['answers without a content type', withStatus(200), /"no content type", not JSON/],
    ['answers a page that it calls JSON', says('<html>login</html>'), /is not JSON/],
    ['answers with half of its JSON', says('{"alive":["a"],"gone":["b"],"unkn'), /is not JSON/],
    ['answers with bytes that are not text', says(Buffer.from([0x22, 0xff, 0x22])), /is not JSON/],
    [
      'answers packed',
      withStatus(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }),
      /packed, which was not asked/,
    ],
    ['answers with an empty list', says('[]'), /is not \{"alive"/],
    ['answers with null', says('null'), /is not \{"alive"/],
    ['leaves a list out', says('{"alive":["a","b"],"gone":[]}'), /is not \{"alive"/],
    ['has a list of its own', (call) => answer(call, { gone: call.ids, moved: [] }), /is not \{"alive"/],
    ['answers with numbers', (call) => answer(call, { gone: [1, 2] }), /is not \{"alive"/],
    ['answers for half the batch', (call) => answer(call, { gone: ['a'] }), /covers 1 of 2/],
    ['answers for no owner', (call) => answer(call, {}), /covers 0 of 2/],
    [
      "answers with another tenant's owners too",
      (call) => answer(call, { gone: [...call.ids, 'z'] }),
      /The answer contains an owner that was not requested/,
    ],
    ['has an owner in two lists', (call) => answer(call, { alive: ['a'], gone: ['a', 'b'] }), /twice/],
    ['has an owner twice in one list', (call) => answer(call, { gone: ['a', 'a', 'b'] }), /twice/],
    [
      'answers with too much',
      (call) => answer(call, { gone: call.ids, unknown: ['x'.repeat(2 * 1024 * 1024)] }),
      /more than 2097152 bytes/,
    ],
    ['never ends its answer', ({ response }) => flood(response), /more than 2097152 bytes/],
    [
      'breaks its answer off',
      ({ response }) => {
        response.writeHead(200, { ...JSON_TYPE, 'content-length': '500' });
        response.write('{"alive":[]', () => response.destroy());
      },
      /broke off/,
    ],
    ['hangs up', ({ response }) => response.destroy(), /cannot be reached \(ECONNRESET\)/],
    [
      'sends its answer a byte at a time',
      ({ response }) => {
        response.writeHead(200, JSON_TYPE);
        const drip = setInterval(() => response.write(' '), 10);
        response.on('close', () => clearInterval(drip));
      },
      /did not answer/,
    ],
  ])('that %s leaves all owners unknown', async (_, behave, why) => {
    service.behave = behave;
    expect(await ask(['a', 'b'])).toEqual({ a: 'unknown', b: 'unknown' });
    expect(failed).toMatch(why);
  });

  it.each([301, 302, 303, 307, 308])('that redirects with %i is not followed', async (status) => {
    const other = await OwnerService.start();
    other.behave = gone;
    service.behave = withStatus(status, { location: other.url });
    try {
      expect(await ask(['a'])).toEqual({ a: 'unknown' });
      expect(failed).toMatch(`status ${status}`);
      expect(other.calls).toEqual([]);
    } finally {
      await other.stop();
    }
  });

  it('that is unreachable leaves all owners unknown', async () => {
    await service.stop();
    expect(await ask(['a'])).toEqual({ a: 'unknown' });
    expect(failed).toMatch(/cannot be reached \(ECONNREFUSED\)/);
    service = await OwnerService.start();
  });

  it('is not quoted, because its answer may contain a secret', async () => {
    service.behave = says('{"password":"hush"');
    await ask(['a']);
    expect(failed).not.toContain('hush');
  });

  describe('on a second try', () => {
    it('is called again after a failed answer', async () => {
      service.behave = (call) => (service.calls.length === 1 ? withStatus(500, JSON_TYPE)(call) : gone(call));
      expect(await ask(['a'])).toEqual({ a: 'gone' });
      expect(service.calls).toHaveLength(2);
    });

    it('is called only once more', async () => {
      service.behave = withStatus(500, JSON_TYPE);
      await ask(['a']);
      expect(service.calls).toHaveLength(2);
    });

    it.each([
      ['an invalid answer', says('null')],
      ['an answer that is late', (): void => undefined],
    ])('is not called after %s', async (_, behave) => {
      service.behave = behave;
      await ask(['a']);
      expect(service.calls).toHaveLength(1);
    });
  });

  describe('that failed five times in a row', () => {
    beforeEach(async () => {
      service.behave = says('null');
      for (let i = 0; i < 5; i += 1) await ask(['a']);
    });

    it('is not called', async () => {
      use({ restMs: 60_000 });
      for (let i = 0; i < 5; i += 1) await ask(['a']);
      const { length } = service.calls;
      service.behave = gone;
      expect(await ask(['a'])).toEqual({ a: 'unknown' });
      expect(failed).toMatch(/5 times in a row. It is not called again/);
      expect(service.calls).toHaveLength(length);
    });

    it('is called again after a while, and trusted again', async () => {
      service.behave = gone;
      await until(async () => (await ask(['a']))['a'] === 'gone', 'it is believed again');
      expect(await ask(['b'])).toEqual({ b: 'gone' });
    });

    it('and fails again is not called for another while', async () => {
      const { length } = service.calls;
      await until(async () => {
        await ask(['a']);
        return service.calls.length > length;
      }, 'it is asked again');
      await ask(['a']);
      expect(failed).toMatch(/is not called again/);
      expect(service.calls).toHaveLength(length + 1);
    });
  });

  it('that fails every other time is still called, and trusted when it answers', async () => {
    use({ restMs: 60_000 });
    const said: unknown[] = [];
    for (let i = 0; i < 12; i += 1) {
      service.behave = i % 2 ? gone : says('null');
      said.push((await ask(['a']))['a']);
    }
    expect(said).toEqual(Array.from({ length: 6 }, () => ['unknown', 'gone']).flat());
  });

  it.each([
    [
      'calls the canary that is gone alive',
      { alive: ['canary-a', 'canary-g'], gone: ['a'] },
      '"canary-g" is gone',
    ],
    ['calls the canary that is alive gone', { gone: ['canary-a', 'canary-g', 'a'] }, '"canary-a" is alive'],
  ])('that %s leaves all owners unknown', async (_, lists, why) => {
    use({ canaries: CANARIES });
    service.behave = (call) => answer(call, lists);
    expect(await ask(['a'])).toEqual({ a: 'unknown' });
    expect(failed).toContain(why);
  });

  it('that is right about its canaries is trusted', async () => {
    use({ canaries: CANARIES });
    service.behave = (call) => answer(call, { alive: ['canary-a'], gone: ['canary-g', 'a'] });
    expect(await ask(['a'])).toEqual({ a: 'gone' });
  });

  describe('by its name', () => {
    it('is resolved once for each connection, and connected to at that address', async () => {
      const lookups: string[] = [];
      use({ url: `http://localhost:${service.port}/`, lookup: resolvesTo(['127.0.0.1'], lookups) });
      expect(await ask(['a'])).toEqual({ a: 'alive' });
      expect(lookups).toEqual(['localhost']);
    });

    it.each([
      ['https://owners.test', ['127.0.0.1'], /owners.test leads to 127.0.0.1, which is this machine/],
      ['https://owners.test', ['10.0.0.7'], /10.0.0.7, which is in a private network/],
      ['https://owners.test', ['8.8.8.8', '10.0.0.7'], /10.0.0.7, which is in a private network/],
      ['https://owners.test', ['169.254.169.254'], /169.254.169.254, which may never be asked/],
      ['https://owners.test', ['::ffff:127.0.0.1'], /::ffff:127.0.0.1, which may never be asked/],
      ['https://owners.test', ['::1'], /::1, which is this machine/],
      ['https://owners.test', [], /has no address|cannot be reached/],
      ['http://localhost', ['8.8.8.8'], /localhost leads to 8.8.8.8, which is not of this machine/],
      ['http://localhost', ['127.0.0.1', '10.0.0.7'], /localhost leads to 10.0.0.7/],
    ])('%s that resolves to %j is never connected to', async (url, addresses, why) => {
      use({ url: `${url}:${service.port}/`, lookup: resolvesTo(addresses) });
      expect(await ask(['a'])).toEqual({ a: 'unknown' });
      expect(failed).toMatch(why);
      expect(service.calls).toEqual([]);
    });

    it('that later resolves to another address is checked again at its next connection', async () => {
      const addresses = ['127.0.0.1'];
      use({ url: `http://localhost:${service.port}/`, lookup: resolvesTo(addresses) });
      service.behave = (call) => {
        call.response.setHeader('connection', 'close');
        answer(call, { alive: call.ids });
      };
      expect(await ask(['a'])).toEqual({ a: 'alive' });
      addresses[0] = '10.0.0.7';
      expect(await ask(['a'])).toEqual({ a: 'unknown' });
      expect(failed).toMatch(/leads to 10.0.0.7/);
    });

    it('that is unknown leaves all owners unknown', async () => {
      const notFound = Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' });
      use({ url: 'https://owners.test/', lookup: (_name, _options, callback) => callback(notFound, []) });
      expect(await ask(['a'])).toEqual({ a: 'unknown' });
      expect(failed).toMatch(/cannot be reached \(ENOTFOUND\)/);
    });
  });

  it.skipIf(!hasOpenssl())('with an untrusted certificate leaves all owners unknown', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mooring-tls-'));
    const { cert, key } = makeCertificates(folder);
    const secure = await OwnerService.start({
      cert: await readFile(cert, 'utf8'),
      key: await readFile(key, 'utf8'),
    });
    secure.behave = gone;
    try {
      use({ url: secure.url });
      expect(await ask(['a'])).toEqual({ a: 'unknown' });
      expect(failed).toMatch(/cannot be reached \(UNABLE_TO_VERIFY|cannot be reached \(SELF_SIGNED/);
      expect(secure.calls).toEqual([]);
    } finally {
      await secure.stop();
      await rm(folder, { recursive: true });
    }
  });

  it('at a forbidden address is rejected on construction', () => {
    expect(() => use({ url: 'https://10.0.0.7/' })).toThrow(
      'The resolver of "ride": url: 10.0.0.7 is in a private network; "allowPrivate": true would let it be asked.',
    );
  });

  function use(options: Partial<HttpResolverOptions>): void {
    const made = new HttpResolver({
      type: 'ride',
      url: service.url,
      timeoutMs: TIMEOUT_MS,
      restMs: REST_MS,
      ...options,
    });
    resolver?.close();
    resolver = made;
  }

  async function ask(ids: string[]): Promise<Record<string, string>> {
    const facts: Fact[] = [];
    const journal = new Journal({ connection: {}, listeners: [(fact) => facts.push(fact)] });
    const owners = new OwnerLives({ get: (): unknown => resolver } as unknown as Resolvers, journal);
    const answered = await owners.ask('ride', ids);
    failed = answered.failed;
    expect(facts).toMatchObject(failed ? [{ event: 'trouble', resolver: 'ride' }] : []);
    return Object.fromEntries(answered.lives);
  }
});

function resolvesTo(addresses: readonly string[], lookups: string[] = []): LookupFunction {
  return (hostname, _options, callback) => {
    lookups.push(hostname);
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
}

function flood(response: Parameters<typeof send>[0]): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const more = (): void => {
    while (!response.destroyed && response.write(' '.repeat(64 * 1024)));
  };
  response.on('drain', more);
  more();
}
