import { pathTo } from '../api.js';
import type { Paused, Queues } from '../answers.js';
import { ask, present } from '../ask.js';
import type { Command } from '../command.js';
import type { Screen } from '../output.js';
import { redraw } from '../redraw.js';
import { table } from '../render/table.js';
import { clean, span } from '../render/text.js';
import { named } from '../words.js';

export const queuesCommand = ask<Queues>({
  name: 'queues',
  description: 'show the job counts of each queue and how long its oldest waiting job has been due',
  example: 'queues --watch',
  canWatch: true,
  call: (api) => api.get('/v1/admin/queues'),
  render: renderQueues,
});

export const topCommand: Command = {
  ...queuesCommand,
  name: 'top',
  description: 'show the queues, updated every second; Ctrl-C quits',
  example: 'top',
  options: {},
  run: (parsed, tools) => {
    queuesCommand.words!.read(parsed.words, 'top');
    const shown = { read: () => tools.api.get<Queues>('/v1/admin/queues'), render: renderQueues };
    return tools.out.isTerminal && !tools.out.isJson ? redraw(shown, tools) : present(shown, parsed, tools);
  },
};

export const pauseCommand = ask<Paused>({
  name: 'queues pause',
  alias: 'pause',
  description: 'let no more jobs of a queue start; running jobs continue',
  example: 'pause media',
  words: named('queue'),
  call: (api, [queue]) => api.post(pathTo`/v1/admin/queues/${queue!}/pause`),
  render: renderPaused,
});

export const resumeCommand = ask<Paused>({
  name: 'queues resume',
  alias: 'resume',
  description: 'let the jobs of a paused queue start again',
  example: 'resume media',
  words: named('queue'),
  call: (api, [queue]) => api.post(pathTo`/v1/admin/queues/${queue!}/resume`),
  render: renderPaused,
});

function renderPaused({ queue, paused }: Paused, { paint }: Screen): string {
  const state = paused ? 'is paused: no job of it starts; running jobs continue' : 'runs';
  return `${paint('bold', clean(queue))} ${state}.`;
}

/** Column order. Other states come last, if a queue has jobs in them. */
const STATES = ['waiting', 'delayed', 'active', 'completed', 'failed'];

export function renderQueues({ queues }: Queues, screen: Screen): string {
  if (queues.length === 0) return 'There are no queues.';
  const found = queues.flatMap(({ counts }) => Object.keys(counts).filter((state) => counts[state]! > 0));
  const states = [...new Set([...STATES, ...found])];
  return table(
    ['queue', ...states, 'oldest waiting'],
    queues.map(({ queue, counts, oldestWaitingMs, paused }) => [
      paused ? `${queue} (paused)` : queue,
      ...states.map((state) => counts[state] ?? 0),
      oldestWaitingMs === null ? '-' : span(oldestWaitingMs),
    ]),
    screen,
  );
}
