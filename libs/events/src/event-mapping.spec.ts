import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { owner } from '#core';
import { z } from 'zod';
import { InvalidEventError, type CloudEvent } from './cloud-event.js';
import { EventMapping, EventMappingError, type EventRule } from './event-mapping.js';
import { readEventMap } from './event-map-file.js';

const event: CloudEvent = {
  id: 'a-1',
  source: '/trips',
  type: 't',
  subject: '42',
  data: { a: { b: 7 }, s: 'é:x' },
};

function found(template: string, more: object = {}): string {
  const target = new EventMapping([{ type: 't', owner: template }]).find({ ...event, ...more })!;
  return `${target.owner.type}|${target.owner.id}`;
}

describe('EventMapping', () => {
  it.each([
    ['trip:{subject}', 'trip|42'],
    ['trip:{source}/{id}', 'trip|/trips/a-1'],
    ['trip:{data.a.b}', 'trip|7'],
    ['trip:eu-{data.s}', 'trip|eu-é:x'],
    ['tenant:all', 'tenant|all'],
  ])('resolves %s to the owner %s', (template, expected) => {
    expect(found(template)).toBe(expected);
  });

  it('finds nothing for an unmapped type, even one named like an inherited property', () => {
    const mapping = new EventMapping([{ type: 't', owner: 'trip:{subject}' }]);
    expect(mapping.find({ ...event, type: 'u' })).toBeUndefined();
    expect(mapping.find({ ...event, type: 'constructor' })).toBeUndefined();
  });

  it('closes the owner by default', () => {
    const rules = [undefined, true, false].map((close, i): EventRule => {
      return { type: `t${i}`, owner: 'trip:{subject}', ...(close !== undefined && { close }) };
    });
    const mapping = new EventMapping(rules);
    expect(rules.map(({ type }) => mapping.find({ ...event, type })!.close)).toEqual([true, true, false]);
  });

  it('accepts a function as owner', () => {
    const mapping = new EventMapping([
      { type: 't', owner: ({ subject }) => (subject ? owner('trip', subject) : undefined) },
    ]);
    expect(mapping.find(event)).toEqual({ owner: { type: 'trip', id: '42' }, close: true });
    const { subject: _, ...without } = event;
    expect(mapping.find(without)).toBeUndefined();
  });

  it.each<[string, object, RegExp]>([
    ['trip:{subject}', { subject: undefined }, /subject is missing/],
    ['trip:{data.a.c}', {}, /data.a.c is missing/],
    ['trip:{data.a.constructor}', {}, /data.a.constructor is missing/],
    ['trip:{data.__proto__.a}', {}, /data.__proto__.a is missing/],
    ['trip:{data.s.length}', {}, /data.s.length is missing/],
    ['trip:{data.a}', {}, /data.a is neither a text nor a whole number/],
    ['trip:{data.a}', { data: { a: '' } }, /data.a is neither/],
    ['trip:{data.a}', { data: { a: 2 ** 53 } }, /data.a is neither/],
    ['trip:{subject}', { subject: '🙂'.repeat(129) }, /1 to 512 bytes/],
  ])('rejects with %s an event with %j', (template, more, problem) => {
    const find = (): string => found(template, more);
    expect(find).toThrow(InvalidEventError);
    expect(find).toThrow(problem);
  });

  it('reports every problem of its rules on construction', () => {
    const rules = [
      { type: 'a', owner: 'trip:{subject}' },
      { type: 'a', owner: 'trip:{who}' },
      { type: '', owner: '{subject}:1' },
      { type: 'b', owner: 'trip', close: 'yes', reopen: true },
      { type: 'c', owner: '9trip:{data}' },
      { type: 'd', owner: 'trip:{subject' },
      { type: 'e' },
      null,
    ] as unknown as EventRule[];
    const make = (): EventMapping => new EventMapping(rules);
    expect(make).toThrow(EventMappingError);
    expect(problems(make)).toEqual([
      'rule 2: {who} is unknown; expected {subject}, {source}, {id} and {data.…}',
      'rule 2: type "a" is already mapped',
      'rule 3: type must be the type of an event',
      'rule 3: owner: The type in "{subject}:1" must be a word.',
      'rule 4: "reopen" is unknown; expected type, owner, close',
      'rule 4: close must be true or false',
      'rule 4: owner: An owner is written type:id, as in trip:42; got "trip".',
      'rule 5: {data} is unknown; expected {subject}, {source}, {id} and {data.…}',
      expect.stringMatching(/^rule 5: owner: The type of an owner is a word/),
      'rule 6: owner "trip:{subject" has an unpaired brace',
      'rule 7: owner must be written type:id, as in trip:{subject}',
      'rule 8: expected an object',
    ]);
  });

  function problems(make: () => unknown): readonly string[] {
    try {
      make();
      return [];
    } catch (error) {
      return (error as EventMappingError).problems;
    }
  }
});

describe('readEventMap', () => {
  let folder: string;
  beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'mooring-map-'))));
  afterAll(() => rm(folder, { recursive: true }));
  const field = z.string().transform(readEventMap);

  async function messages(text: string): Promise<string[]> {
    const path = join(folder, 'map.json');
    await writeFile(path, text);
    const read = field.safeParse(path);
    return read.success ? [] : read.error.issues.map(({ message }) => message.replace(path, 'map.json'));
  }

  it('reads a mapping', async () => {
    expect(await messages('[{"type":"t","owner":"trip:{subject}","close":false}]')).toEqual([]);
    const mapping = field.parse(join(folder, 'map.json'));
    expect(mapping.find(event)).toEqual({ owner: { type: 'trip', id: '42' }, close: false });
  });

  it('reports all problems at once', async () => {
    expect(await messages('[{"type":"t","owner":"trip:{x}"},{"type":"t","owner":"trip:1"}]')).toEqual([
      'map.json: rule 1: {x} is unknown; expected {subject}, {source}, {id} and {data.…}',
      'map.json: rule 2: type "t" is already mapped',
    ]);
    expect(await messages('{}')).toEqual([expect.stringMatching(/expected a list of rules/)]);
    expect(await messages('[{')).toEqual([expect.stringMatching(/^map.json: is not JSON \(/)]);
  });

  it('names a missing file', () => {
    const read = field.safeParse(join(folder, 'none.json'));
    expect(read.error?.issues[0]?.message).toMatch(/none.json: cannot be read \(ENOENT\)/);
  });
});
