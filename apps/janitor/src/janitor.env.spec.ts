import { loadConfig } from '#runtime';
import { describe, expect, it } from 'vitest';
import { JanitorEnv } from './janitor.env.js';

const load = (env: NodeJS.ProcessEnv): JanitorEnv => loadConfig(JanitorEnv, env);

describe('the settings of the janitor', () => {
  it.each([
    [{}, 60_000],
    [{ LEASE_REAP_EVERY: '30s' }, 30_000],
    [{ CLEANUP_INTERVAL_MINUTES: '5' }, 300_000],
    [{ CLEANUP_INTERVAL_MINUTES: '5', LEASE_REAP_EVERY: '2m' }, 120_000],
  ])('compare leases and containers as %o says', (env, ms) => {
    expect(load(env).LEASE_REAP_EVERY).toBe(ms);
  });

  it.each([
    { DOCKER_HOST: 'docker' },
    { LEASE_SECRET: 'short' },
    { LEASE_CPUS: '0' },
    { LEASE_MEMORY_MB: '1' },
  ])('refuse %o', (env) => {
    expect(() => load(env)).toThrow(Object.keys(env)[0]);
  });
});
