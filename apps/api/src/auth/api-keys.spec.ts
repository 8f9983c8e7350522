import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { findKey, readApiKeys, type ApiKey } from './api-keys.js';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const HASH = sha256('open sesame');
const Keys = z.string().transform(readApiKeys);
const problemsOf = (text: string): string[] | undefined =>
  Keys.safeParse(text).error?.issues.map(({ message }) => message);

const FORM = 'expected name:scope+scope:sha256';
const SCOPE = (word: string): string => `"${word}" is not a scope; they are enqueue, read, cancel, admin`;
const DIGEST = 'the last part must be the SHA-256 of the key, 64 hex digits';

describe('readApiKeys', () => {
  it('parses names, scopes and hashes', () => {
    expect(Keys.parse(`ada:enqueue+read:${HASH}, ops-1.b_c:admin:${sha256('other').toUpperCase()}`)).toEqual([
      { name: 'ada', scopes: new Set(['enqueue', 'read']), hash: Buffer.from(HASH, 'hex') },
      { name: 'ops-1.b_c', scopes: new Set(['admin']), hash: Buffer.from(sha256('other'), 'hex') },
    ]);
  });

  it.each([
    ['no name', `:read:${HASH}`, FORM],
    ['a name with a space', `a b:read:${HASH}`, FORM],
    ['too many parts', `ada:read:${HASH}:more`, FORM],
    ['nothing at all', '', FORM],
    ['no scope', `ada::${HASH}`, SCOPE('')],
    ['a scope that there is not', `ada:read+write:${HASH}`, SCOPE('write')],
    ['a scope that ends in a plus', `ada:read+:${HASH}`, SCOPE('')],
    ['a scope that every object has', `ada:constructor:${HASH}`, SCOPE('constructor')],
    ['no hash', 'ada:read', DIGEST],
    ['the key instead of its hash', 'ada:read:open-sesame', DIGEST],
    ['a digit too few', `ada:read:${HASH.slice(1)}`, DIGEST],
    ['a digit too many', `ada:read:${HASH}0`, DIGEST],
    ['a letter that is not a digit', `ada:read:${HASH.slice(1)}g`, DIGEST],
  ])('rejects %s', (_, entry, problem) => {
    expect(problemsOf(entry)).toEqual([`entry 1: ${problem}`]);
  });

  it('rejects a name of more than 64 characters', () => {
    expect(problemsOf(`${'a'.repeat(64)}:read:${HASH}`)).toBeUndefined();
    expect(problemsOf(`${'a'.repeat(65)}:read:${HASH}`)).toEqual([`entry 1: ${FORM}`]);
  });

  it('names every invalid entry by its position', () => {
    expect(problemsOf(`x,ada:read:${HASH},ada:rule:${HASH},ada:read:1,`)).toEqual([
      `entry 1: ${SCOPE('')}`,
      `entry 3: ${SCOPE('rule')}`,
      `entry 4: ${DIGEST}`,
      `entry 5: ${FORM}`,
    ]);
  });

  it('never repeats a key in an error message', () => {
    const messages = problemsOf('ada:read:open-sesame,ada:read:open-sesame:more')!.join();
    expect(messages).not.toContain('open-sesame');
  });
});

describe('findKey', () => {
  const aKey = (name: string, key: string): ApiKey => ({
    name,
    scopes: new Set(['read']),
    hash: Buffer.from(sha256(key), 'hex'),
  });
  const keys = [aKey('ada', 'first'), aKey('bob', 'second'), aKey('eve', 'third')];

  it.each([
    ['first', 'ada'],
    ['second', 'bob'],
    ['third', 'eve'],
  ])('finds the owner of "%s": %s', (presented, name) => {
    expect(findKey(keys, presented)?.name).toBe(name);
  });

  it.each(['', 'First', 'first ', sha256('first')])('does not find "%s"', (presented) => {
    expect(findKey(keys, presented)).toBeUndefined();
  });

  it('finds nothing when there are no keys', () => {
    expect(findKey([], 'first')).toBeUndefined();
  });
});
