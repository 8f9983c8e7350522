import { type Api, pathTo } from '../api.js';
import type { Paused, Queues } from '../answers.js';
import { ask, present } from '../ask.js';
import type { Command } from '../command.js';
import type { Screen } from '../output.js';
import { didYouMean, Refused } from '../problems.js';
import { redraw } from '../redraw.js';
import { table } from '../render/table.js';
import { clean, span } from '../render/text.js';
import { several } from '../words.js';

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

const queueNames = several('queue');

export const pauseCommand = change('pause', 'let no more jobs of these queues start; running jobs continue');
export const resumeCommand = change('resume', 'let the jobs of these paused queues start again');

/** An unknown queue does not keep the others from it. With --json each of several queues has a line. */
function change(verb: 'pause' | 'resume', description: string): Command {
  const example = `${verb} media mail`;
  return {
    name: `queues ${verb}`,
    alias: verb,
    words: queueNames,
    forms: [queueNames.usage],
    description,
    example,
    run: async (parsed, { api, out }) => {
      const names = queueNames.read(parsed.words, example);
      const unknown: string[] = [];
      for (const name of names) {
        const answer = await api.post<Paused>(pathTo`/v1/admin/queues/${name}/${verb}`).catch(ifUnknown);
        if (!answer) unknown.push(name);
        else if (out.isJson && names.length > 1) out.line(answer);
        else out.answer(answer, renderPaused);
      }
      if (unknown.length > 0) throw await noSuchQueues(unknown, api);
      return 0;
    },
  };
}

function ifUnknown(error: unknown): undefined {
  if (!(error instanceof Refused && error.problem?.code === 'NOT_FOUND')) throw error;
}

/** As the API refuses a queue, with the names that may be meant. */
async function noSuchQueues(names: readonly string[], api: Api): Promise<Refused> {
  const { queues } = await api.get<Queues>('/v1/admin/queues');
  const known = queues.map(({ queue }) => queue);
  const sentences = names.map((name) => `There is no queue named ${name}.${didYouMean(name, known)}`);
  const detail = [...sentences, 'mooring queues lists them.'].join(' ');
  return new Refused(404, { code: 'NOT_FOUND', detail }, undefined, api.url);
}

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
