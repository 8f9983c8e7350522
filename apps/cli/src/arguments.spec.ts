import { describe, expect, it } from 'vitest';
import { firstWord, readArguments, type OptionSpecs } from './arguments.js';
import { WrongUsage } from './problems.js';

const SPECS: OptionSpecs = {
  owner: { value: '<type:id>', many: true, says: 'whose' },
  reason: { value: '<text>', says: 'why' },
  wait: { value: '[<duration>]', bare: '30s', says: 'wait' },
  priority: { value: '<n>', says: 'how urgent' },
  json: { says: 'for a machine' },
  help: { says: 'help' },
};

const read = (line: string) => readArguments(line.split(' ').filter(Boolean), SPECS);

describe('arguments', () => {
  it('are words and options in any order', () => {
    const given = read('trip --json 42 --owner a:1 --reason=-x --owner b:2');
    expect([
      given.words,
      given.list('owner'),
      given.text('reason'),
      given.has('json'),
      given.has('help'),
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
  ])('of %s are told apart', (line, words, wait) => {
    const given = read(line);
    expect([given.words, given.duration('wait')]).toEqual([words, wait]);
  });

  it.each([
    ['--raeson x', 'There is no option --raeson here. Did you mean --reason?'],
    ['-5', 'There is no option -5 here. A word that begins with - is given behind a -- that stands alone.'],
    [
      '--constructor',
      'There is no option --constructor here. A word that begins with - is given behind a -- that stands alone.',
    ],
    ['--reason', '--reason needs a value: --reason <text>'],
    ['--reason --json', '--reason needs a value; if "--json" is meant, write --reason=--json'],
    ['--reason a --reason b', '--reason is given twice.'],
    ['--json=yes', '--json takes no value.'],
  ])('%s is wrong', (line, message) => {
    expect(() => read(line)).toThrow(new WrongUsage(message));
  });

  it('are read as what they are for', () => {
    const given = read('--priority 201');
    for (const text of ['soon', '5', '1.5', '250'])
      expect(() => read(`--wait=${text}`).duration('wait')).toThrow(
        new WrongUsage(`--wait must be a number with a unit (500ms, 30s, 5m, 24h, 7d); got "${text}".`),
      );
    expect(() => given.whole('priority', 1, 200)).toThrow(
      '--priority is a whole number from 1 to 200; got "201".',
    );
  });

  it('have a first word that is no value of an option', () => {
    expect(firstWord(['--json', '--reason', 'x', 'cancel'], SPECS)).toBe(3);
    expect(firstWord(['--json'], SPECS)).toBeUndefined();
  });
});
