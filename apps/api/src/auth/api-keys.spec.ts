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

describe('api keys', () => {
  it('are names, scopes and hashes', () => {
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
    ['a letter that is no digit', `ada:read:${HASH.slice(1)}g`, DIGEST],
  ])('do not have %s', (_, entry, problem) => {
    expect(problemsOf(entry)).toEqual([`entry 1: ${problem}`]);
  });

  it('have names of at most 64 letters', () => {
    expect(problemsOf(`${'a'.repeat(64)}:read:${HASH}`)).toBeUndefined();
    expect(problemsOf(`${'a'.repeat(65)}:read:${HASH}`)).toEqual([`entry 1: ${FORM}`]);
  });

  it('are each named by position when they are wrong', () => {
    expect(problemsOf(`x,ada:read:${HASH},ada:rule:${HASH},ada:read:1,`)).toEqual([
      `entry 1: ${SCOPE('')}`,
      `entry 3: ${SCOPE('rule')}`,
      `entry 4: ${DIGEST}`,
      `entry 5: ${FORM}`,
    ]);
  });

  it('are never repeated in what is said against them', () => {
    const said = problemsOf('ada:read:open-sesame,ada:read:open-sesame:more')!.join();
    expect(said).not.toContain('open-sesame');
  });
});

describe('a presented key', () => {
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
  ])('%s is that of %s', (presented, name) => {
    expect(findKey(keys, presented)?.name).toBe(name);
  });

  it.each(['', 'First', 'first ', sha256('first')])('"%s" is nobody’s', (presented) => {
    expect(findKey(keys, presented)).toBeUndefined();
  });

  it('is nobody’s when there are no keys', () => {
    expect(findKey([], 'first')).toBeUndefined();
  });
});
