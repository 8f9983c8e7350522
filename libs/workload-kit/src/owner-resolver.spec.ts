import type { OwnerResolver } from '#nestjs';
import { describe, expect, it } from 'vitest';
import { ownerResolver, type OwnerRecords } from './owner-resolver.js';

describe('whether the owner of a repository exists', () => {
  const { signal } = new AbortController();

  class Things implements OwnerRecords {
    readonly asked: string[] = [];

    isOurs(id: string): boolean {
      return id.startsWith('our-');
    }

    async live(ids: readonly string[]): Promise<boolean[]> {
      this.asked.push(...ids);
      return ids.map((id) => id === 'our-1');
    }
  }

  function resolverOf(things: OwnerRecords): OwnerResolver {
    const ThingResolver = ownerResolver('thing', Things);
    return new ThingResolver(things);
  }

  it('is read from its record, and unknown for a foreign id, without a lookup', async () => {
    const things = new Things();
    expect(await resolverOf(things).resolve(['our-1', '42', 'our-2', ''], signal)).toEqual(
      new Map([
        ['our-1', 'alive'],
        ['42', 'unknown'],
        ['our-2', 'gone'],
        ['', 'unknown'],
      ]),
    );
    expect(things.asked).toEqual(['our-1', 'our-2']);
  });

  it('is unknown while the store is unavailable', async () => {
    const live = () => Promise.reject(new Error('away'));
    const resolver = resolverOf({ isOurs: () => true, live });
    await expect(resolver.resolve(['our-1'], signal)).rejects.toThrow('away');
  });
});
