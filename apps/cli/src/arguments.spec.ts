import { describe, expect, it } from 'vitest';
import { wordsAt, readArguments, type OptionSpecs } from './arguments.js';
import { WrongUsage } from './problems.js';

const SPECS: OptionSpecs = {
  owner: { value: '<type:id>', many: true, description: 'whose' },
  reason: { value: '<text>', description: 'why' },
  wait: { value: '[<duration>]', bare: '30s', description: 'wait' },
  priority: { value: '<n>', description: 'how urgent' },
  json: { description: 'for a machine' },
  help: { description: 'help' },
};

const read = (line: string) => readArguments(line.split(' ').filter(Boolean), SPECS);

describe('readArguments', () => {
  it('accepts positional arguments and options in any order', () => {
    const parsed = read('trip --json 42 --owner a:1 --reason=-x --owner b:2');
    expect([
      parsed.words,
      parsed.list('owner'),
      parsed.text('reason'),
      parsed.has('json'),
      parsed.has('help'),
    ]).toEqual([['trip', '42'], ['a:1', 'b:2'], '-x', true, false]);
  });

  it.each([
    ['--wait', [], 30_000],
    ['--wait 5s trip:1', ['trip:1'], 5_000],
    ['--wait trip:1', ['trip:1'], 30_000],
    ['--wait 42', ['42'], 30_000],
    ['trip --wait=250ms 1', ['trip', '1'], 250],
    ['trip --wait=0 1', ['trip', '1'], 0],
    ['--reason - -- --json', ['--json'], undefined],
  ])('separates optional durations from positional arguments in "%s"', (line, words, wait) => {
    const parsed = read(line);
    expect([parsed.words, parsed.duration('wait')]).toEqual([words, wait]);
  });

  it.each([
    ['--raeson x', 'Unknown option --raeson. Did you mean --reason?'],
    ['-5', 'Unknown option -5. Put -- before an argument that begins with -.'],
    ['--constructor', 'Unknown option --constructor. Put -- before an argument that begins with -.'],
    ['--reason', '--reason needs a value: --reason <text>'],
    ['--reason --json', '--reason needs a value. To pass "--json", write --reason=--json'],
    ['--reason a --reason b', '--reason is given twice.'],
    ['--json=yes', '--json takes no value.'],
  ])('rejects "%s"', (line, message) => {
    expect(() => read(line)).toThrow(new WrongUsage(message));
  });

  it('rejects a duration without a unit and a number out of range', () => {
    const parsed = read('--priority 201');
    for (const text of ['soon', '5', '1.5', '250'])
      expect(() => read(`--wait=${text}`).duration('wait')).toThrow(
        new WrongUsage(`--wait must be a number with a unit (500ms, 30s, 5m, 24h, 7d); got "${text}".`),
      );
    expect(() => parsed.whole('priority', 1, 200)).toThrow(
      '--priority must be a whole number from 1 to 200; got "201".',
    );
  });

  it('finds the command behind options and their values', () => {
    expect(wordsAt(['--json', '--reason', 'x', 'jobs', '--reason=y', 'show'], SPECS)).toEqual([3, 5]);
    expect(wordsAt(['--json'], SPECS)).toEqual([]);
  });
});
