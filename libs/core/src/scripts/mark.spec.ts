import fc from 'fast-check';
import { Redis } from 'ioredis';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { escapeText, unescapeText } from './escape.js';
import { readMark, type Mark } from './mark.js';

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
const digits = fc.integer({ min: 1, max: 2 ** 52 }).map(String);
const owner = fc.record({ name: text.map((id) => escapeText(`trip:${id}`)), epoch: digits });
const mark: fc.Arbitrary<Mark> = fc.record({
  owners: fc.array(owner, { minLength: 1, maxLength: 4 }),
  startBy: fc.oneof(fc.constant(''), digits),
  key: fc.oneof(fc.constant(''), fc.stringMatching(/^[\w-]{22}$/)),
  limit: fc.oneof(fc.constant(''), fc.integer({ min: 1, max: 99 }).map(String)),
  slot: fc.oneof(fc.constant(''), text.map(escapeText)),
});

describe('the mark of a job', () => {
  let redis: Redis;
  const lua = ['store', 'mark']
    .map((name) => readFileSync(new URL(`./lua/${name}.lua`, import.meta.url), 'utf8'))
    .join('\n');

  beforeAll(() => {
    redis = new Redis(inject('storeUrl'));
  });

  afterAll(() => redis.disconnect());

  it('is read as it was written', () => {
    fc.assert(
      fc.property(mark, (each) => {
        expect(readMark(writeMark(each))).toEqual(each);
      }),
    );
  });

  it('may contain any text of an owner or a slot', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (each) => {
        expect(unescapeText(escapeText(each))).toBe(each);
        expect(escapeText(each)).not.toMatch(/[|" \p{Cc}]/u);
      }),
    );
  });

  it('is parsed by the scripts as by TypeScript', async () => {
    const read = `${lua}
      local mark = readMark(ARGV[1])
      local answer = { mark.startBy, mark.key, mark.limit, mark.slot, mark.epoch, mark.owner }
      for epoch, owner in furtherOwners(mark) do answer[#answer + 1] = epoch; answer[#answer + 1] = owner end
      return answer`;
    await fc.assert(
      fc.asyncProperty(mark, async (each) => {
        const [startBy, key, limit, slot, ...owners] = (await redis.eval(
          read,
          0,
          writeMark(each),
        )) as string[];
        expect({ startBy, key, limit, slot }).toEqual({
          startBy: each.startBy,
          key: each.key,
          limit: each.limit,
          slot: each.slot,
        });
        expect(owners).toEqual(each.owners.flatMap(({ epoch, name }) => [epoch, name]));
      }),
    );
  });

  it('is written by the scripts as by TypeScript', async () => {
    const write = `${lua}
      local owners = {}
      for i = 3, #ARGV, 2 do owners[#owners + 1] = { epoch = ARGV[i], name = ARGV[i + 1] } end
      return writeMark(owners, ARGV[1], ARGV[2])`;
    await fc.assert(
      fc.asyncProperty(mark, async (each) => {
        const needs = `${each.key}|${each.limit}|${each.slot}`;
        const owners = each.owners.flatMap(({ epoch, name }) => [epoch, name]);
        expect(await redis.eval(write, 0, each.startBy, needs, ...owners)).toBe(writeMark(each));
      }),
    );
  });
});

/** As the scripts do. */
function writeMark({ owners: [first, ...further], startBy, key, limit, slot }: Mark): string {
  const parts = [first!.epoch, first!.name, startBy, key, limit, slot];
  return [...parts, ...further.flatMap(({ name, epoch }) => [epoch, name])].join('|');
}
