import { describe, expect, it } from 'vitest';
import { idOf, isDiagramId, isLink, keysOf, linkKey, newLink } from './diagram-keys.js';

const REQUEST = { type: 'graphviz', output: 'svg', source: 'a' } as const;

describe('the id of a diagram', () => {
  it('is equal for equal requests and differs in every other case', () => {
    const id = idOf(REQUEST, 'r 1');
    expect([idOf({ ...REQUEST }, 'r 1'), isDiagramId(id)]).toEqual([id, true]);
    const others = [
      idOf(REQUEST, 'r 2'),
      idOf({ ...REQUEST, type: 'd2' }, 'r 1'),
      idOf({ ...REQUEST, output: 'png' }, 'r 1'),
      idOf({ ...REQUEST, source: 'b' }, 'r 1'),
      idOf({ ...REQUEST, source: '","r 1' }, ''),
    ];
    expect(new Set([id, ...others]).size).toBe(6);
  });
});

describe('a short link', () => {
  it('is unique, reveals nothing of its diagram, and shares its shard', () => {
    const id = idOf(REQUEST, 'r 1');
    const links = Array.from({ length: 1_000 }, () => newLink(id));
    expect(new Set(links.map((link) => link.slice(1, 9))).size).toBe(1_000);
    expect(links.filter((link) => !isLink(link))).toEqual([]);
    const slot = (key: string): string | undefined => /\{.*\}/.exec(key)?.[0];
    expect(slot(linkKey('p', links[0]!))).toBe(slot(keysOf('p', id).diagram));
  });

  it.each(['', 'x'.repeat(18), `0${'a'.repeat(18)}`, '0}{aaaaaaaaaaaaaaa', '0aaaaaaaaaaaaaaa:a'])(
    'is not %j',
    (text) => expect(isLink(text)).toBe(false),
  );
});
