import { loadConfig } from '#runtime';
import { probe } from '#workloads/probe';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ApiEnv, isForTrying, offersDemo } from './api-env.js';

const KEYS = `ada:read:${'0'.repeat(64)}`;
const load = (env: NodeJS.ProcessEnv): ApiEnv => loadConfig(ApiEnv, env);

describe('the settings of the api', () => {
  it('have safe defaults', () => {
    expect(load({})).toEqual({
      PORT: 3000,
      CONSOLE: 'on',
      CONTAINERS: 'on',
      LEASE_IMAGES: ['ubuntu', 'debian', 'alpine', 'busybox', 'node'],
      LEASE_LIMIT: 100,
      LEASE_MAX: 86_400_000,
      HOST: '127.0.0.1',
      MAX_WAITING: 100_000,
      MAX_CONNECTIONS: 4_096,
      REQUEST_TIMEOUT: 30_000,
      ARTIFACTS_URL: { via: 'file', folder: resolve('.mooring/artifacts') },
      RETENTION_AGE: 86_400_000,
      RETENTION_COUNT: 1_000,
      RECEIPT_KEEP: 604_800_000,
      MAX_CLOSED: 100_000,
      DURABILITY: 'none',
      DURABILITY_TIMEOUT: 1_000,
      EVENTS_OUT: 'all',
      EVENTS_OUT_KEEP: 10_000,
      AUDIT_AGE: 90 * 86_400_000,
      AUDIT_COUNT: 100_000,
      MOORING_PREFIX: 'mooring',
      SHUTDOWN_TIMEOUT: 25_000,
      SHUTDOWN_READY_DELAY: 0,
      LOG_LEVEL: 'info',
      TRIPS: 'on',
      SITES: 'on',
      DIAGRAMS: 'on',
      DIAGRAM_BACKLOG: 500,
      DIAGRAM_HEAVY: 4,
      DIAGRAM_WAIT: 10_000,
    });
  });

  it.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost'])('need no keys on %s', (HOST) => {
    expect(load({ HOST })).toMatchObject({ HOST });
  });

  it.each(['0.0.0.0', '::', '10.0.0.7', '128.0.0.1', 'api.example', '127.0.0.1.example', 'xlocalhost'])(
    'need keys on %s',
    (HOST) => {
      expect(() => load({ HOST })).toThrow(
        `API_KEYS: needed, because HOST is ${HOST}: without keys the api listens on loopback only`,
      );
      expect(load({ HOST, API_KEYS: KEYS })).toMatchObject({ HOST });
    },
  );

  it('do not accept an empty list of keys', () => {
    expect(() => load({ HOST: '0.0.0.0', API_KEYS: '' })).toThrow('API_KEYS: needed');
  });

  it('report each invalid key by its position', () => {
    expect(() => load({ API_KEYS: `${KEYS},bob` })).toThrow('API_KEYS: entry 2: ');
  });

  it('report every contradiction', () => {
    const env = { HOST: '0.0.0.0', REDIS_URL: 'redis://h', REDIS_CLUSTER: 'a:1' };
    expect(() => load(env)).toThrow(/has 2 problems:\n {2}together: set only one.*\n {2}API_KEYS: needed/);
  });

  it('report every contradiction together with invalid values', () => {
    const env = { LOG_LEVEL: 'loud', HOST: '0.0.0.0', REDIS_URL: 'redis://h', REDIS_CLUSTER: 'a:1' };
    expect(() => load(env)).toThrow(
      /has 3 problems:\n {2}LOG_LEVEL: .*\n {2}together: set only one.*\n {2}API_KEYS: needed/,
    );
  });
});

describe('the probe kind', () => {
  it.each([
    ['offered', {}],
    ['offered', { PROBE: 'on' }],
    ['offered', { PROBE: 'on', API_KEYS: KEYS }],
    ['offered', { PROBE: 'on', API_KEYS: KEYS, HOST: '0.0.0.0' }],
    ['not offered', { PROBE: 'off' }],
    ['not offered', { API_KEYS: KEYS }],
    ['not offered', { API_KEYS: KEYS, HOST: '0.0.0.0' }],
    ['offered', { PROBE: '' }],
  ])('is %s with %o', (is, env) => {
    const settings = load(env);
    expect(probe.isOn(settings, isForTrying(settings))).toBe(is === 'offered');
  });

  it.each([
    [true, {}],
    [false, { API_KEYS: KEYS }],
    [true, { API_KEYS: KEYS, DEMO: 'on' }],
    [false, { DEMO: 'off' }],
  ])('comes with demo pages (%s) under %o', (is, env) => {
    expect(offersDemo(load(env))).toBe(is);
  });

  it('accepts only on or off', () => {
    expect(() => load({ PROBE: 'yes' })).toThrow('PROBE: Invalid option: expected one of "on"|"off"');
  });
});
