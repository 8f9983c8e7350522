import { signal } from '@preact/signals';
import { onLive } from './live.js';

export interface Second {
  completed: number;
  failed: number;
  other: number;
}

export const SECONDS = 120;
const AVERAGED = 10;

/** Jobs that ended in each of the last seconds, the newest last. Nothing is known of the time before the page was opened. */
export const seconds = signal<readonly Second[]>([]);

let current: Second = none();

function none(): Second {
  return { completed: 0, failed: 0, other: 0 };
}

export function countRates(): void {
  onLive(({ name, data }) => {
    const counts = name === 'jobs' ? (data as { counts: Record<string, number> }).counts : { [name]: 1 };
    for (const [type, count] of Object.entries(counts)) {
      if (type === 'job.completed') current.completed += count;
      else if (type === 'job.failed') current.failed += count;
      else if (type.startsWith('job.')) current.other += count;
    }
  });
  setInterval(() => {
    seconds.value = [...seconds.value, current].slice(-SECONDS);
    current = none();
  }, 1_000);
}

/** Of the last ten seconds. */
export function perSecond(of: keyof Second): number {
  const recent = seconds.value.slice(-AVERAGED);
  return recent.length === 0 ? 0 : recent.reduce((sum, one) => sum + one[of], 0) / recent.length;
}
