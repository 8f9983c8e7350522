import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as fields from './fields.js';
import { ConfigError, loadConfig, suspectNames } from './load-config.js';
import { checkStoreVariables } from './store-config.js';

const Env = z
  .object({ PORT: fields.port.prefault('3000'), ...fields.StoreEnv, ...fields.ShutdownEnv, ...fields.LogEnv })
  .superRefine(checkStoreVariables);

const problemsOf = (env: NodeJS.ProcessEnv): readonly string[] => {
  try {
    loadConfig(Env, env);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).problems;
  }
};

describe('the settings', () => {
  it('have defaults', () => {
    expect(loadConfig(Env, {})).toEqual({
      PORT: 3000,
      MOORING_PREFIX: 'mooring',
      SHUTDOWN_TIMEOUT: 25_000,
      LOG_LEVEL: 'info',
    });
  });

  it('are read from the environment, and other variables are ignored', () => {
    const env = { PORT: '80', REDIS_URL: 'redis://h:1', MOORING_PREFIX: 'a', HOME: '/root' };
    expect(
      loadConfig(Env, { ...env, SHUTDOWN_TIMEOUT: '1m', LOG_LEVEL: 'warn', LOG_FORMAT: 'json' }),
    ).toEqual({
      PORT: 80,
      REDIS_URL: 'redis://h:1',
      MOORING_PREFIX: 'a',
      SHUTDOWN_TIMEOUT: 60_000,
      LOG_LEVEL: 'warn',
      LOG_FORMAT: 'json',
    });
  });

  it('treat an empty variable as unset', () => {
    const empty = { PORT: '', REDIS_URL: '', REDIS_MASTER: '', MOORING_PREFIX: '', LOG_FORMAT: '' };
    expect(loadConfig(Env, empty)).toEqual(loadConfig(Env, {}));
  });

  it('are also read under an older name, in its unit; the newer name takes precedence', () => {
    const older = { name: 'CLEANUP_MINUTES', unit: 'm' };
    const Aged = z.object({ CLEANUP_EVERY: fields.duration.prefault('1h').meta({ older }).describe('…') });
    expect(loadConfig(Aged, {})).toEqual({ CLEANUP_EVERY: 3_600_000 });
    expect(loadConfig(Aged, { CLEANUP_MINUTES: '5' })).toEqual({ CLEANUP_EVERY: 300_000 });
    expect(loadConfig(Aged, { CLEANUP_MINUTES: '5', CLEANUP_EVERY: '7s' })).toEqual({ CLEANUP_EVERY: 7_000 });
    expect(() => loadConfig(Aged, { CLEANUP_MINUTES: 'soon' })).toThrow(/^.*\n {2}CLEANUP_MINUTES: expected/);
  });

  it('report all problems at once, one a line', () => {
    const env = { PORT: 'http', LOG_FORMAT: 'xml', SHUTDOWN_TIMEOUT: 'soon', MOORING_COLOR: 'red' };
    expect(() => loadConfig(Env, env)).toThrow(
      new ConfigError([
        'PORT: expected a port from 0 to 65535',
        'SHUTDOWN_TIMEOUT: expected a duration above zero and up to 24d, as in 500ms, 30s, 5m, 24h or 7d',
        'LOG_FORMAT: Invalid option: expected one of "json"|"pretty"',
        'MOORING_COLOR: no such variable',
      ]),
    );
  });

  it('count the problems in the first sentence', () => {
    expect(new ConfigError(['A: wrong']).message).toBe('The environment has 1 problem:\n  A: wrong');
    expect(new ConfigError(['A: wrong', 'B: wrong']).message).toBe(
      'The environment has 2 problems:\n  A: wrong\n  B: wrong',
    );
  });

  it('suggest the intended name of an unknown one', () => {
    expect(problemsOf({ MOORING_PREFX: 'a' })).toEqual([
      'MOORING_PREFX: no such variable; did you mean MOORING_PREFIX?',
    ]);
  });

  it('ignore the variables of the command line tool', () => {
    expect(problemsOf({ MOORING_URL: 'http://127.0.0.1:3000', MOORING_KEY: 'secret' })).toEqual([]);
  });

  it('ignore names without the prefix of Mooring', () => {
    expect(problemsOf({ MOORINGS: '1', MY_MOORING_PREFX: '1', mooring_prefx: '1' })).toEqual([]);
  });
});

describe('the ways to the store', () => {
  const sentinels = { REDIS_SENTINELS: 'a:1', REDIS_MASTER: 'main' };
  const onlyOne = 'together: set only one of REDIS_URL, REDIS_SENTINELS, REDIS_CLUSTER';
  const inPairs = 'together: REDIS_SENTINELS and REDIS_MASTER are set together or not at all';

  it.each([
    ['none', {}],
    ['a url', { REDIS_URL: 'redis://h' }],
    ['sentinels', sentinels],
    ['a cluster', { REDIS_CLUSTER: 'a:1,b:2' }],
  ])('may be %s', (_, env) => {
    expect(problemsOf(env)).toEqual([]);
  });

  it.each([
    ['a url and sentinels', { REDIS_URL: 'redis://h', ...sentinels }, [onlyOne]],
    ['a url and a cluster', { REDIS_URL: 'redis://h', REDIS_CLUSTER: 'a:1' }, [onlyOne]],
    ['sentinels and a cluster', { ...sentinels, REDIS_CLUSTER: 'a:1' }, [onlyOne]],
    ['sentinels without a master', { REDIS_SENTINELS: 'a:1' }, [inPairs]],
    ['a master without sentinels', { REDIS_MASTER: 'main' }, [inPairs]],
    ['both at once', { REDIS_URL: 'redis://h', REDIS_SENTINELS: 'a:1' }, [onlyOne, inPairs]],
  ])('may not be %s', (_, env, problems) => {
    expect(problemsOf(env)).toEqual(problems);
  });
});

describe('suspect names', () => {
  it('are those that differ by one letter from a known one', () => {
    expect(suspectNames(Env, { REDIS_URI: 'redis://h' })).toEqual([
      'REDIS_URI is set but not used. Did you mean REDIS_URL?',
    ]);
    expect(suspectNames(Env, { REDIS_URIS: 'redis://h' })).toEqual([]);
  });

  it('are none when the right one is set as well', () => {
    expect(suspectNames(Env, { REDIS_URI: 'a', REDIS_URL: 'redis://h' })).toEqual([]);
  });

  it('are none among short names, which other programs often use', () => {
    expect(suspectNames(Env, { PORTS: '1', SPORT: '1' })).toEqual([]);
  });

  it('do not include names of Mooring, which are rejected', () => {
    expect(suspectNames(Env, { MOORING_PREFX: 'a' })).toEqual([]);
  });
});
