import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { resolversEnv } from './owner-resolvers-file.js';
import type { OwnerResolverSettings } from './settings.js';

const URL = 'https://owners.example/owners';
const QUERY = 'select id from photos where id = any($1)';
const ENV = { RIDES_TOKEN: 'hush', PGPASS: 'hush' };

describe('the file of owner resolvers', () => {
  let folder: string;
  beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'mooring-resolvers-'))));
  afterAll(() => rm(folder, { recursive: true }));
  const schema = z.object(resolversEnv(ENV));

  async function read(text: string): Promise<z.ZodSafeParseResult<OwnerResolverSettings>> {
    const path = join(folder, 'resolvers.json');
    await writeFile(path, text);
    return schema.shape.OWNER_RESOLVERS.safeParse(path) as z.ZodSafeParseResult<OwnerResolverSettings>;
  }

  async function messages(file: unknown): Promise<string[]> {
    const { error } = await read(typeof file === 'string' ? file : JSON.stringify(file));
    return (error?.issues ?? []).map(({ message }) =>
      message.replace(join(folder, 'resolvers.json'), 'resolvers.json'),
    );
  }

  it('is read together with variables of the environment', async () => {
    const canaries = { alive: 'a', gone: 'g' };
    const file = {
      ride: {
        http: {
          url: URL,
          timeout: '1500ms',
          canaries,
          allowPrivate: true,
          authorization: 'Bearer ${RIDES_TOKEN}',
        },
      },
      trip: { http: { url: 'http://127.0.0.1:3000/' } },
      photo: { sql: { url: 'postgres://ro:${PGPASS}@db/photos', query: QUERY, timeout: 500, canaries } },
    };
    expect((await read(JSON.stringify(file))).data).toEqual(
      new Map<string, object>([
        [
          'ride',
          {
            via: 'http',
            type: 'ride',
            url: URL,
            timeoutMs: 1_500,
            canaries,
            allowPrivate: true,
            authorization: 'Bearer hush',
          },
        ],
        ['trip', { via: 'http', type: 'trip', url: 'http://127.0.0.1:3000/' }],
        [
          'photo',
          {
            via: 'sql',
            type: 'photo',
            url: 'postgres://ro:hush@db/photos',
            query: QUERY,
            timeoutMs: 500,
            canaries,
          },
        ],
      ]),
    );
  });

  it('may be empty', async () => {
    expect((await read('{}')).data).toEqual(new Map());
  });

  it('reports every mistake at once', async () => {
    expect(
      await messages({
        '9 ships': { http: { url: URL } },
        a: {},
        b: { http: { url: URL }, sql: { url: 'postgres://db/x', query: QUERY } },
        c: { grpc: {} },
        d: null,
        e: { http: { url: 'http://owners.example/', timeout: '1h', retries: 2, canaries: { alive: 'x' } } },
        f: { http: { url: URL, canaries: { alive: 'x', gone: 'x' }, authorization: 'a\r\nhost: b' } },
        g: { http: { url: 'https://10.0.0.1/', authorization: 'Bearer ${UNSET_TOKEN}' } },
        h: { sql: { url: 'mysql://db/x', query: 'select id from photos', timeout: 5 } },
        i: { sql: { url: 'postgres://db/x', query: 'select id from photos where id = any($10)' } },
        j: { http: 7 },
      }),
    ).toEqual([
      'resolvers.json: The type of an owner is a word of letters, digits, - and _ (at most 64); got "9 ships"',
      'resolvers.json: a: expected either {"http":{…}} or {"sql":{…}}',
      'resolvers.json: b: expected either {"http":{…}} or {"sql":{…}}',
      'resolvers.json: c: expected either {"http":{…}} or {"sql":{…}}',
      'resolvers.json: d: expected either {"http":{…}} or {"sql":{…}}',
      'resolvers.json: e: http.timeout: expected a duration of 100ms to 30s',
      expect.stringMatching(/e: http\.canaries\.gone: Invalid input/),
      expect.stringMatching(/e: http: Unrecognized key: "retries"/),
      'resolvers.json: e: http: url must begin with https://, or http:// for 127.0.0.1, localhost or [::1]',
      'resolvers.json: f: http.canaries: the two must not be the same',
      'resolvers.json: f: http.authorization: cannot be sent as a header',
      'resolvers.json: g: http: ${UNSET_TOKEN} is not set in the environment',
      'resolvers.json: g: http: url: 10.0.0.1 is in a private network; "allowPrivate": true would let it be asked',
      'resolvers.json: h: sql.url: expected postgres://…',
      'resolvers.json: h: sql.query: expected a query with $1, the ids that are asked for',
      'resolvers.json: h: sql.timeout: expected a duration of 100ms to 30s',
      'resolvers.json: i: sql.query: expected a query with $1, the ids that are asked for',
      expect.stringMatching(/j: http: Invalid input: expected object/),
    ]);
  });

  it.each(['[]', '7', 'null', '"x"'])('is an object, not %s', async (text) => {
    expect(await messages(text)).toEqual([expect.stringMatching(/expected an object, as in/)]);
  });

  it('has each type at most once', async () => {
    const entry = JSON.stringify({ http: { url: URL, canaries: { alive: 'ride', gone: 'photo' } } });
    expect(await messages(`{"ride":${entry},"photo":${entry},"r\\u0069de":${entry}}`)).toEqual([
      'resolvers.json: ride: has 2 resolvers; leave one',
    ]);
    expect(await messages(`{"a\\"b":${entry}}`)).toEqual([
      expect.stringContaining('The type of an owner is a word'),
    ]);
    expect(await messages(`{"ride":${entry},"photo":${entry}}`)).toEqual([]);
  });

  it('has no invalid type', async () => {
    const entry = JSON.stringify({ http: { url: URL } });
    expect(await messages(`{"__proto__":${entry}}`)).toContain(
      'resolvers.json: __proto__: is no type of owner',
    );
  });

  it('may begin with a byte order mark', async () => {
    expect((await read('\uFEFF{}')).data).toEqual(new Map());
  });

  it.each(['', ' \n', '\uFEFF'])('is reported as empty: %j', async (text) => {
    expect(await messages(text)).toEqual(['resolvers.json: is empty']);
  });

  it('is not quoted when it is not JSON, because it may contain a password', async () => {
    expect(await messages('{"photo": hush')).toEqual(['resolvers.json: is not JSON']);
  });

  it('is named when it is missing', () => {
    const { error } = schema.shape.OWNER_RESOLVERS.safeParse(join(folder, 'none.json'));
    expect(error?.issues[0]?.message).toMatch(/none.json: cannot be read \(ENOENT\)/);
  });
});
