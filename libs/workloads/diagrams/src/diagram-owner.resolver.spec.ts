import { describe, expect, it } from 'vitest';
import { DiagramOwnerResolver } from './diagram-owner.resolver.js';
import type { DiagramRepository } from './diagram-repository.js';

describe('whether a diagram exists', () => {
  const [here, gone] = ['a'.repeat(32), 'b'.repeat(32)];
  const ownersOf = (live: DiagramRepository['live']): DiagramOwnerResolver =>
    new DiagramOwnerResolver({ live } as unknown as DiagramRepository);

  it('is read from its record, and unknown for a foreign id', async () => {
    const owners = ownersOf((ids) => Promise.resolve(ids.map((id) => id === here)));
    expect(await owners.resolve([here, gone, '42'])).toEqual(
      new Map([
        [here, 'alive'],
        [gone, 'gone'],
        ['42', 'unknown'],
      ]),
    );
  });

  it('is unknown while the store is away', async () => {
    const owners = ownersOf(() => Promise.reject(new Error('away')));
    await expect(owners.resolve([here])).rejects.toThrow('away');
  });
});
