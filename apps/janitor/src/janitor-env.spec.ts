import { loadConfig } from '#runtime';
import { describe, expect, it } from 'vitest';
import { JanitorEnv } from './janitor-env.js';

const load = (env: NodeJS.ProcessEnv): JanitorEnv => loadConfig(JanitorEnv, env);

describe('the settings of the janitor', () => {
  it.each([
    [{}, 60_000],
    [{ LEASE_REAP_EVERY: '30s' }, 30_000],
    [{ CLEANUP_INTERVAL_MINUTES: '5' }, 300_000],
    [{ CLEANUP_INTERVAL_MINUTES: '5', LEASE_REAP_EVERY: '2m' }, 120_000],
  ])('compare leases and containers as %o says', (env, ms) => {
    expect(load(env)).toHaveProperty('LEASE_REAP_EVERY', ms);
  });

  it('may keep finished jobs for longer than a timer can wait, and give owners no grace', () => {
    expect(load({ RETENTION_AGE: '30d', ARTIFACT_GRACE: '90d', OWNER_GRACE: '0' })).toMatchObject({
      RETENTION_AGE: 2_592_000_000,
      ARTIFACT_GRACE: 7_776_000_000,
      OWNER_GRACE: 0,
    });
  });

  it.each([
    { DOCKER_HOST: 'docker' },
    { RETENTION_AGE: '0' },
    { RETENTION_COUNT: '0' },
    { ORPHAN_SWEEP_EVERY: '30d' },
    { LEASE_SECRET: 'short' },
    { LEASE_CPUS: '0' },
    { LEASE_MEMORY_MB: '1' },
  ])('refuse %o', (env) => {
    expect(() => load(env)).toThrow(Object.keys(env)[0]);
  });
});
