import { escapeText, unescapeText } from '../scripts/escape.js';
import type { OwnerStore } from './owner-store.js';

/** What a job was that has been removed. */
export interface Removal {
  /** When it was removed, ms. */
  readonly at: number;
  /** `cancelled`, `expired`, `removed`, or what `noteRetired` was given. */
  readonly why: string;
  readonly owners: readonly string[];
  readonly name?: string;
  /** The state it was in; `refused` if it was about to start. */
  readonly state?: string;
  readonly cancelId?: string;
  /** When it was added, and when its last run began, ms. */
  readonly added?: number;
  readonly begun?: number;
  readonly attempts?: number;
  readonly reason?: string;
  readonly by?: string;
}

/** What is remembered of removed jobs: of each queue the newest 10,000, and as many that had ended before. */
export class Removals {
  constructor(private readonly store: OwnerStore) {}

  async find(queue: string, ids: readonly string[]): Promise<(Removal | undefined)[]> {
    const lists = ['removed', 'retired'].map((list) => `${this.store.root}~${list}~${queue}`);
    const [removed, retired] = await Promise.all(lists.map((list) => this.store.valuesOf(list, ids)));
    return ids.map((_, i) => readRemoval(removed![i] ?? retired![i]));
  }

  async noteRetired(queue: string, jobs: ReadonlyMap<string, Removal>): Promise<void> {
    const texts = [...jobs].flatMap(([id, was]) => {
      const owners = was.owners.map(escapeText).join('|');
      return [id, JSON.stringify({ ...was, owners })];
    });
    await this.store.run('noteRetired', this.store.recordOf(''), [queue, ...texts]);
  }
}

function readRemoval(text: string | null | undefined): Removal | undefined {
  if (!text) return undefined;
  const was = JSON.parse(text) as Omit<Removal, 'owners'> & { readonly owners: string };
  return { ...was, owners: was.owners.split('|').map(unescapeText) };
}
