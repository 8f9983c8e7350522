/** What the jobs of a question have beside owners. */
export type Extra = 'dedup' | 'free slots' | 'contended slots';

export interface JobExtras {
  readonly dedup?: { readonly strategy: 'skip'; readonly key: string };
  readonly slot?: { readonly key: string; readonly limit: number };
}

const FREE = { slots: 100, limit: 50 };
const CONTENDED = { slots: 10, limit: 1 };

/** Every job has a deduplication key of its own. Slots are shared, and their limits are or are not reached. */
export function extrasOf(n: number, extra: Extra | undefined): JobExtras {
  switch (extra) {
    case undefined:
      return {};
    case 'dedup':
      return { dedup: { strategy: 'skip', key: `resize-${n}` } };
    case 'free slots':
      return { slot: slotOf(n, FREE) };
    case 'contended slots':
      return { slot: slotOf(n, CONTENDED) };
  }
}

function slotOf(n: number, { slots, limit }: typeof FREE): NonNullable<JobExtras['slot']> {
  return { key: `gpu-${n % slots}`, limit };
}
