import type { QueueLine } from '../answers.js';
import type { Paint } from '../output.js';
import { table } from './table.js';
import { span } from './text.js';

/** States in the order a job goes through them; what else is counted comes behind. */
const STATES = ['waiting', 'delayed', 'retrying', 'running', 'active', 'completed', 'failed'];

/** How much every queue holds, and how long the first in line has waited. */
export function renderQueues(queues: readonly QueueLine[], paint: Paint): string {
  if (queues.length === 0) return 'There are no queues.';
  const named = queues.flatMap(({ counts }) => Object.keys(counts));
  const states = [...new Set([...STATES, ...named])].filter((state) => named.includes(state));
  return table(
    ['queue', ...states, 'oldest waiting'],
    queues.map(({ queue, counts, oldestWaitingMs, paused }) => [
      paused ? `${queue} (paused)` : queue,
      ...states.map((state) => counts[state] ?? 0),
      typeof oldestWaitingMs === 'number' ? span(oldestWaitingMs) : '-',
    ]),
    paint,
  );
}
