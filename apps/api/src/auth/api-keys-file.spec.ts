import { loadConfig } from '#runtime';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiEnv, isForTrying, keysOf } from '../api-env.js';

const HASHES = 'abcd'.split('').map((digit) => digit.repeat(64));
const aKey = { name: 'shop', sha256: HASHES[0], scopes: ['read'] };

describe('API_KEYS_FILE', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mooring-keys-'));
    file = join(folder, 'keys.json');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const load = (content: unknown, env: NodeJS.ProcessEnv = {}): ApiEnv => {
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return loadConfig(ApiEnv, { API_KEYS_FILE: file, ...env });
  };

  it('adds keys with limits and a rate to those of API_KEYS', () => {
    const limited = {
      name: 'app',
      sha256: HASHES[1],
      scopes: ['enqueue'],
      ownerTypes: ['trip'],
      rate: '100/m',
    };
    const env = load([aKey, limited], { API_KEYS: `ops:admin:${HASHES[2]}`, HOST: '0.0.0.0' });
    expect(keysOf(env)).toEqual([
      { name: 'ops', scopes: new Set(['admin']), hash: Buffer.from(HASHES[2]!, 'hex') },
      { name: 'shop', scopes: new Set(['read']), hash: Buffer.from(HASHES[0]!, 'hex') },
      {
        name: 'app',
        scopes: new Set(['enqueue']),
        hash: Buffer.from(HASHES[1]!, 'hex'),
        limits: { ownerTypes: ['trip'] },
        rate: { count: 100, perMs: 60_000 },
      },
    ]);
    expect(isForTrying(env)).toBe(false);
  });

  it('reports all problems at once, and never repeats a key', () => {
    const wrong = [
      { ...aKey, sha256: 'open-sesame' },
      { ...aKey, scopes: ['rule'], ownerTypes: [] },
      { ...aKey, owners: ['trip'], rate: '10/day' },
      { ...aKey, name: 'a b', ownerTypes: ['trip:1'] },
    ];
    const fails = (): unknown => load(wrong);
    expect(fails).toThrow('entry 1: sha256: expected the SHA-256 of the key, 64 hex digits');
    expect(fails).toThrow(/entry 2: scopes\.0: .*"enqueue"/);
    expect(fails).toThrow('entry 2: ownerTypes: expected at least one');
    expect(fails).toThrow(/entry 3: .*owners/);
    expect(fails).toThrow('entry 3: rate: expected a number of requests per s, m or h, as in 100/s');
    expect(fails).toThrow('entry 4: name: expected 1 to 64 letters');
    expect(fails).toThrow('entry 4: ownerTypes.0: expected the type of an owner, as in trip');
    expect(fails).not.toThrow('open-sesame');
  });

  it.each([
    ['no JSON', '{open-sesame', 'is not JSON'],
    ['no list', {}, 'expected array'],
    ['an empty list', [], 'expected at least one key'],
    ['the same key twice', [aKey, { ...aKey, name: 'b' }], 'entry 2: sha256: the same as that of entry 1'],
    ['a rate of 0', [{ ...aKey, rate: '0/s' }], 'entry 1: rate'],
  ])('refuses %s', (_, content, problem) => {
    expect(() => load(content)).toThrow(problem);
    expect(() => load(content)).not.toThrow('sesame');
  });

  it('refuses a file that is not there, and a key that API_KEYS has without limits', () => {
    expect(() => loadConfig(ApiEnv, { API_KEYS_FILE: join(folder, 'none.json') })).toThrow(
      'cannot be read (ENOENT)',
    );
    expect(() => load([aKey], { API_KEYS: `all:admin:${HASHES[0]}` })).toThrow(
      'API_KEYS_FILE: the key "shop" stands in API_KEYS too, without limits',
    );
  });
});
