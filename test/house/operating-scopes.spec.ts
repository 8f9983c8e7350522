import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiKey } from '../support/api-keys.js';
import { Fleet } from '../support/fleet.js';
import { root } from '../support/process.js';

const SCOPES = ['read', 'cancel', 'admin', 'enqueue'];
const ROW = /^\| (?:`(read|cancel|admin)`|none) \|.*\| (.*) \|$/gm;
const CALL = /`(GET|POST|PUT|DELETE) ([^`]+)`/g;

/** The table in docs/operating.md that tells an operator which scope a call needs. */
describe('the scopes in docs/operating.md', async () => {
  const page = await readFile(`${root}/docs/operating.md`, 'utf8');
  const calls = [...page.matchAll(ROW)].flatMap(([, scope, named]) =>
    [...named!.matchAll(CALL)].map(([, method, path]) => ({ scope, method: method!, path: path! })),
  );
  let fleet: Fleet;
  beforeAll(async () => {
    const keys = SCOPES.map((scope) => apiKey(scope, scope));
    fleet = await Fleet.start({ workers: 0, env: { API_KEYS: keys.join(','), PROBE: 'on' } });
  });
  afterAll(() => fleet.stop());

  it('cover every call', () => {
    expect(calls.length).toBeGreaterThan(15);
    expect(new Set(calls.map(({ scope }) => scope))).toEqual(new Set(['read', 'cancel', 'admin', undefined]));
  });

  it.each(calls)('are right: $method $path needs $scope', async ({ scope, method, path }) => {
    const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'type' ? 'trip' : 'nonesuch'));
    const refused = await Promise.all(
      SCOPES.map(async (key) => {
        const { status } = await fetch(`${fleet.url}${url}`, {
          method,
          headers: { authorization: `Bearer ${key}` },
        });
        return status === 403 || status === 401 ? key : undefined;
      }),
    );
    const others = SCOPES.filter((each) => scope !== undefined && each !== scope);
    expect(refused.filter((key) => key !== undefined)).toEqual(others);
  });
});
