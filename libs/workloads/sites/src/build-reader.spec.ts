import type { ArtifactReader } from '#nestjs';
import { Readable } from 'node:stream';
import { expect, describe, it } from 'vitest';
import { defer } from '../../../../test/support/defer.js';
import { BuildReader } from './build-reader.js';
import type { PackedRoute } from './build/packed-site.js';

describe('the routes of builds', () => {
  /** Creates builds with the given numbers of routes; records which were read, in order. */
  function readerOf(sizes: Record<string, number>, mayOpen?: Promise<void>): [BuildReader, string[]] {
    const opened: string[] = [];
    const open = async (job: string): Promise<Readable | undefined> => {
      opened.push(job);
      await mayOpen;
      const size = sizes[job];
      if (size === undefined) return undefined;
      const routes = Array.from({ length: size }, (_, i) => routeOf(`/${i}`));
      return Readable.from([JSON.stringify({ version: 1, routes })]);
    };
    return [new BuildReader({ open } as unknown as ArtifactReader), opened];
  }

  function routeOf(path: string): PackedRoute {
    return { path, kind: 'static', contentType: 'text/html', etag: 'e', pack: 'pages-1', at: 0, size: 1 };
  }

  it('are read once for concurrent callers', async () => {
    const gate = defer();
    const [reader, opened] = readerOf({ a: 3 }, gate.promise);
    const asked = Array.from({ length: 5 }, (_, i) => reader.page('a', `/${i}`));
    gate.resolve();
    const none = 'none';
    expect(await Promise.all(asked)).toEqual([...['/0', '/1', '/2'].map(routeOf), none, none]);
    expect(await reader.routes('a')).toHaveLength(3);
    expect(opened).toEqual(['a']);
  });

  it('are read again after a failed read or a missing index', async () => {
    const failing = Promise.reject(new Error('away'));
    const [away, askedAway] = readerOf({ a: 3 }, failing);
    for (let i = 0; i < 2; i += 1) await expect(away.page('a', '/0')).rejects.toThrow('away');
    const [empty, askedEmpty] = readerOf({});
    for (let i = 0; i < 2; i += 1) expect(await empty.page('a', '/0')).toBeUndefined();
    expect([askedAway, askedEmpty]).toEqual([
      ['a', 'a'],
      ['a', 'a'],
    ]);
  });

  it('are evicted by their total number, least recently used first', async () => {
    const [reader, opened] = readerOf({ a: 20_000, b: 20_000, c: 10_000, d: 1, e: 50_001 });
    const read = async (jobs: string): Promise<string> => {
      opened.length = 0;
      for (const job of jobs) await reader.page(job, '/0');
      return opened.join('');
    };
    // Fifty thousand routes fit.
    expect(await read('abcabc')).toBe('abc');
    expect(await read('ad')).toBe('d');
    expect(await read('acd')).toBe('');
    expect(await read('b')).toBe('b');
    // The build just read is kept, whatever its size.
    expect(await read('ee')).toBe('e');
    expect(await read('d')).toBe('d');
  });
});
