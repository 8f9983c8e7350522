import { describe, expect, it } from 'vitest';
import { DiagramOwners } from './diagrams.owners.js';
import type { DiagramsRepository } from './diagrams.repository.js';

describe('whether a diagram lives', () => {
  const [here, gone] = ['a'.repeat(32), 'b'.repeat(32)];
  const ownersOf = (live: DiagramsRepository['live']): DiagramOwners =>
    new DiagramOwners({ live } as unknown as DiagramsRepository);

  it('is what is written of it; of what is none of ours nothing is known', async () => {
    const owners = ownersOf((ids) => Promise.resolve(ids.map((id) => id === here)));
    expect(await owners.resolve([here, gone, '42'])).toEqual(
      new Map([
        [here, 'alive'],
        [gone, 'gone'],
        ['42', 'unknown'],
      ]),
    );
  });

  it('is not known while the store cannot say', async () => {
    const owners = ownersOf(() => Promise.reject(new Error('away')));
    await expect(owners.resolve([here])).rejects.toThrow('away');
  });
});
