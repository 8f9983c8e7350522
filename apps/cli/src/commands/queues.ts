import type { Queues } from '../answers.js';
import type { Command } from '../command.js';
import type { Paint } from '../output.js';
import { noWords } from '../problems.js';
import { table } from '../render/table.js';
import { span } from '../render/text.js';

export const QUEUES_PATH = '/v1/admin/queues';

export const queuesCommand: Command = {
  name: 'queues',
  usage: ['queues'],
  description: 'show the job counts of each queue and how long its oldest waiting job has been due',
  options: {},
  run: async ({ words }, { api, out }) => {
    noWords(words);
    out.answer(await api.get<Queues>(QUEUES_PATH), renderQueues);
    return 0;
  },
};

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
