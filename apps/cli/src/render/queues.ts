import type { Queues } from '../answers.js';
import type { Paint } from '../output.js';
import { table } from './table.js';
import { span } from './text.js';

/** Column order. Other states come last, if a queue has jobs in them. */
const STATES = ['waiting', 'delayed', 'active', 'completed', 'failed'];

export function renderQueues({ queues }: Queues, paint: Paint): string {
  if (queues.length === 0) return 'There are no queues.';
  const named = queues.flatMap(({ counts }) => Object.keys(counts).filter((state) => counts[state]! > 0));
  const states = [...new Set([...STATES, ...named])];
  return table(
    ['queue', ...states, 'oldest waiting'],
    queues.map(({ queue, counts, oldestWaitingMs, paused }) => [
      paused ? `${queue} (paused)` : queue,
      ...states.map((state) => counts[state] ?? 0),
      oldestWaitingMs === null ? '-' : span(oldestWaitingMs),
    ]),
    paint,
  );
}
