import type { OwnerResolver } from '#lifecycle';
import { ownerResolver } from '#workload-kit';
import { describe, expect, it } from 'vitest';
import { isDiagramId } from './diagram-keys.js';
import { OWNER_TYPE } from './diagram-kinds.js';
import { DiagramRepository } from './diagram-repository.js';

describe('whether a diagram exists', () => {
  const [here, gone] = ['a'.repeat(32), 'b'.repeat(32)];
  const { signal } = new AbortController();
  const DiagramOwnerResolver = ownerResolver(OWNER_TYPE, DiagramRepository);
  const ownersOf = (live: DiagramRepository['live']): OwnerResolver =>
    new DiagramOwnerResolver({ live, isOurs: isDiagramId });

  it('is read from its record, and unknown for a foreign id', async () => {
    const owners = ownersOf((ids) => Promise.resolve(ids.map((id) => id === here)));
    expect(await owners.resolve([here, gone, '42'], signal)).toEqual(
      new Map([
        [here, 'alive'],
        [gone, 'gone'],
        ['42', 'unknown'],
      ]),
    );
  });

  it('is unknown while the store is away', async () => {
    const owners = ownersOf(() => Promise.reject(new Error('away')));
    await expect(owners.resolve([here], signal)).rejects.toThrow('away');
  });
});
