import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.js';
import { logContext } from './log-context.js';
import { createLog, type Log } from './log.js';

/** A log and the lines it wrote, without the common fields. */
function openLog(level = 'info'): { log: Log; lines: () => Record<string, unknown>[]; text: () => string } {
  let text = '';
  const log = createLog(
    'test',
    { LOG_LEVEL: level, LOG_FORMAT: 'json' },
    { write: (line) => (text += line) },
  );
  const lines = (): Record<string, unknown>[] =>
    text
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const { level: _level, time: _time, app: _app, pid: _pid, ...rest } = JSON.parse(line);
        return rest;
      });
  return { log, lines, text: () => text };
}

describe('a log line', () => {
  it('names its process and its time', () => {
    const { log, text } = openLog();
    log.info({ event: 'a' }, 'said');
    expect(JSON.parse(text())).toEqual({
      level: 30,
      time: expect.any(Number),
      app: 'test',
      pid: process.pid,
      event: 'a',
      msg: 'said',
    });
  });

  it('is written only from the configured level up', () => {
    const { log, lines } = openLog('warn');
    log.info('not this');
    log.warn('this');
    expect(lines()).toEqual([{ msg: 'this' }]);
  });

  it('is formatted for people on a terminal', async () => {
    const out = new PassThrough({ encoding: 'utf8' });
    const log = createLog('test', { LOG_LEVEL: 'info', LOG_FORMAT: 'pretty' }, out);
    log.info({ jobId: 'a-1', token: 'hush' }, 'said');
    const text = await until(() => out.read() as string | null, 'it is written');
    expect(text).toMatch(/INFO.*said.*\n.*jobId.*a-1.*\n.*token.*\[secret\]/);
  });
});

describe('secrets', () => {
  it.each([
    'password',
    'secret',
    'token',
    'apiKey',
    'api_key',
    'authorization',
    'cookie',
    'REDIS_URL',
    'API_KEYS',
  ])('are replaced under the name %s: at the top, one level down and two', (name) => {
    const { log, lines } = openLog();
    log.info({ [name]: 'hush', a: { [name]: 'hush', b: { [name]: 'hush', shown: 1 } } });
    expect(lines()).toEqual([
      { [name]: '[secret]', a: { [name]: '[secret]', b: { [name]: '[secret]', shown: 1 } } },
    ]);
  });

  it('are also replaced among the ids of a run', () => {
    const { log, lines } = openLog();
    logContext.run({ token: 'hush', jobId: 'a-1' }, () => log.info('said'));
    expect(lines()).toEqual([{ token: '[secret]', jobId: 'a-1', msg: 'said' }]);
  });

  it('stay unchanged in the logged object', () => {
    const { log } = openLog();
    const settings = { nested: { password: 'hush' } };
    log.info(settings);
    expect(settings).toEqual({ nested: { password: 'hush' } });
  });
});

describe('the ids of a run', () => {
  it('are on each line that it causes, and on none after it', async () => {
    const { log, lines } = openLog();
    await logContext.run({ jobId: 'a-1' }, async () => {
      log.info('first');
      await Promise.resolve();
      log.info('second');
    });
    log.info('outside');
    expect(lines()).toEqual([
      { jobId: 'a-1', msg: 'first' },
      { jobId: 'a-1', msg: 'second' },
      { msg: 'outside' },
    ]);
  });

  it('do not include the fields of a single line', () => {
    const { log, lines } = openLog();
    logContext.run({ jobId: 'a-1' }, () => {
      log.info({ tookMs: 7 }, 'first');
      log.info('second');
    });
    expect(lines()).toEqual([
      { jobId: 'a-1', tookMs: 7, msg: 'first' },
      { jobId: 'a-1', msg: 'second' },
    ]);
  });

  it('are not mixed up between concurrent runs', async () => {
    const { log, lines } = openLog();
    const run = (jobId: string): Promise<void> =>
      logContext.run({ jobId }, async () => {
        for (let turn = 0; turn < 3; turn += 1) {
          await Promise.resolve();
          log.info(jobId);
        }
      });
    await Promise.all([run('a-1'), run('b-2')]);
    expect(lines().filter(({ jobId, msg }) => jobId !== msg)).toEqual([]);
    expect(lines()).toHaveLength(6);
  });

  it('are merged with the surrounding ids', () => {
    const { log, lines } = openLog();
    logContext.run({ requestId: 'r', jobId: 'a-1' }, () => {
      logContext.run({ jobId: 'b-2' }, () => log.info('inside'));
      log.info('around');
    });
    expect(lines()).toEqual([
      { requestId: 'r', jobId: 'b-2', msg: 'inside' },
      { requestId: 'r', jobId: 'a-1', msg: 'around' },
    ]);
  });

  it('cannot be changed by a reader', () => {
    logContext.run({ jobId: 'a-1' }, () => {
      logContext.fields()['jobId'] = 'b-2';
      expect(logContext.fields()).toEqual({ jobId: 'a-1' });
    });
    expect(logContext.fields()).toEqual({});
  });
});
