import { describe, expect, it } from 'vitest';
import { describeAddress, storeAddress } from './store-config.js';

const nodes = [
  { host: 'a', port: 1 },
  { host: 'b', port: 2 },
];

describe('the store that the environment names', () => {
  it('is none when nothing is set', () => {
    expect(storeAddress({ MOORING_PREFIX: 'mooring' })).toBeUndefined();
  });

  it('is reached by its url, by Sentinel or as a Cluster', () => {
    expect(storeAddress({ REDIS_URL: 'redis://h' })).toEqual({ via: 'url', url: 'redis://h' });
    expect(storeAddress({ REDIS_CLUSTER: nodes })).toEqual({ via: 'cluster', nodes, login: {} });
    const login = { REDIS_USERNAME: 'ada', REDIS_PASSWORD: 'hush', REDIS_TLS: 'on' } as const;
    expect(storeAddress({ REDIS_SENTINELS: nodes, REDIS_MASTER: 'main', ...login })).toEqual({
      via: 'sentinel',
      sentinels: nodes,
      master: 'main',
      login: { username: 'ada', password: 'hush', isEncrypted: true },
    });
  });
});

describe('an address for people', () => {
  it.each([
    ['redis://h:6379', 'redis://h:6379'],
    ['redis://h:6379/', 'redis://h:6379'],
    ['rediss://h:6379/2', 'rediss://h:6379/2'],
    ['redis://[::1]:6379', 'redis://[::1]:6379'],
  ])('of %s is %s', (url, text) => {
    expect(describeAddress({ via: 'url', url })).toBe(text);
  });

  it('shows how the store is found', () => {
    expect(
      describeAddress({ via: 'sentinel', sentinels: nodes, master: 'main', login: { password: 'hush' } }),
    ).toBe('main by Sentinel at a:1,b:2');
    expect(describeAddress({ via: 'cluster', nodes, login: {} })).toBe('the Cluster at a:1,b:2');
  });

  it.each([
    'redis://:hush@h:1',
    'redis://user:hush@h:1',
    'redis://hush@h:1',
    'redis://user:p%40hush@h:1',
    'redis://user:a@hush@h:1',
    'redis://user:a:hush@h:1',
    'redis://h:1?password=hush',
    'redis://h:1/#hush',
  ])('never shows the secret of %s', (url) => {
    expect(describeAddress({ via: 'url', url })).toBe('redis://h:1');
  });
});
