import { Logger } from '@nestjs/common';
import { beforeEach, describe, expect, it } from 'vitest';
import { createLog } from './log.js';
import { NestLog } from './nest-log.js';

const LEVELS: Record<number, string> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};

describe("Nest's log", () => {
  let lines: Record<string, unknown>[];
  let nest: NestLog;

  beforeEach(() => {
    lines = [];
    const write = (line: string): void => {
      const { level, time: _time, app: _app, pid: _pid, ...rest } = JSON.parse(line);
      lines.push({ level: LEVELS[level], ...rest });
    };
    nest = new NestLog(createLog('test', { LOG_LEVEL: 'trace', LOG_FORMAT: 'json' }, { write }));
  });

  it.each([
    ['log', 'info'],
    ['error', 'error'],
    ['warn', 'warn'],
    ['debug', 'debug'],
    ['verbose', 'trace'],
    ['fatal', 'fatal'],
  ] as const)('writes %s as %s', (method, level) => {
    nest[method]('said', 'Somewhere');
    expect(lines).toEqual([{ level, context: 'Somewhere', msg: 'said' }]);
  });

  it('needs no context', () => {
    nest.log('said');
    expect(lines).toEqual([{ level: 'info', msg: 'said' }]);
  });

  it.each(['InstanceLoader', 'NestFactory', 'NestApplication', 'RouterExplorer', 'RoutesResolver'])(
    'writes the startup messages of %s at debug, but not its errors',
    (context) => {
      nest.log('chat', context);
      nest.error('trouble', context);
      expect(lines).toEqual([
        { level: 'debug', context, msg: 'chat' },
        { level: 'error', context, msg: 'trouble' },
      ]);
    },
  );

  it('keeps the stack of an error', () => {
    nest.error('trouble', 'Error: trouble\n  at here', 'Somewhere');
    expect(lines).toEqual([
      { level: 'error', context: 'Somewhere', stack: 'Error: trouble\n  at here', msg: 'trouble' },
    ]);
  });

  it('keeps an error with its cause', () => {
    nest.error(new TypeError('trouble', { cause: new Error('deeper') }), undefined, 'Somewhere');
    expect(lines).toEqual([
      {
        level: 'error',
        context: 'Somewhere',
        err: {
          type: 'TypeError',
          message: 'trouble: deeper',
          stack: expect.stringMatching(/^TypeError: trouble\n.*caused by: Error: deeper/s),
        },
        msg: 'trouble',
      },
    ]);
  });

  it('keeps an error between the message and the context', () => {
    nest.warn('could not', new Error('the reason'), 'Somewhere');
    expect(lines).toMatchObject([
      { level: 'warn', context: 'Somewhere', err: { message: 'the reason' }, msg: 'could not' },
    ]);
  });

  it('writes an object as fields', () => {
    nest.warn({ event: 'a', count: 2 }, 'Somewhere');
    expect(lines).toEqual([{ level: 'warn', context: 'Somewhere', event: 'a', count: 2 }]);
  });

  it.each([
    [7, '7'],
    [null, 'null'],
    [undefined, 'undefined'],
  ])('writes %s as a word', (message, text) => {
    nest.log(message);
    expect(lines).toEqual([{ level: 'info', msg: text }]);
  });

  it("is used by Nest's own Logger", () => {
    Logger.overrideLogger(nest);
    const logger = new Logger('Somewhere');
    logger.log('said');
    logger.error('trouble', 'a stack');
    logger.error(new Error('broken'));
    Logger.overrideLogger(false);

    expect(lines).toMatchObject([
      { level: 'info', context: 'Somewhere', msg: 'said' },
      { level: 'error', context: 'Somewhere', stack: 'a stack', msg: 'trouble' },
      { level: 'error', context: 'Somewhere', err: { type: 'Error', message: 'broken' }, msg: 'broken' },
    ]);
  });
});
