import { setTimeout as pause } from 'node:timers/promises';
import type { Queues } from '../answers.js';
import type { Command, ExitCode, Tools } from '../command.js';
import { isPassing, noWords } from '../problems.js';
import { renderProblem } from '../render/problem.js';
import { renderQueues } from '../render/queues.js';
import { queues, QUEUES_PATH } from './queues.js';

const EVERY_MS = 1_000;
/** A screen of its own, without a cursor; what was there before comes back at the end. */
const ENTER = '\x1b[?1049h\x1b[?25l';
const LEAVE = '\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const REST_OF_LINE = '\x1b[K';
const REST_OF_SCREEN = '\x1b[J';

export const top: Command = {
  name: 'top',
  usage: ['top'],
  says: 'the queues as they change; Ctrl-C ends it',
  options: {},
  run: async (given, tools) => {
    noWords(given.words);
    return tools.out.isTerminal && !tools.out.isJson ? watch(tools) : queues.run(given, tools);
  },
};

async function watch({ api, out }: Tools): Promise<ExitCode> {
  // A wrong url or key is told in the ordinary way, before the screen is taken.
  let shown = await api.get<Queues>(QUEUES_PATH);
  let trouble = '';
  out.raw(ENTER);
  process.once('exit', () => out.raw(LEAVE));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(0));
  for (;;) {
    const title = `${out.paint('bold', 'Mooring')} ${api.url}  ${new Date().toISOString().slice(11, 19)} UTC`;
    out.raw(frame([title, '', renderQueues(shown.queues, out.paint), '', trouble].join('\n'), out.height));
    await pause(EVERY_MS);
    try {
      shown = await api.get<Queues>(QUEUES_PATH);
      trouble = '';
    } catch (error) {
      if (!isPassing(error)) throw error;
      trouble = `${renderProblem(error as Error, out.paint)}\nThis is how it was before.`;
    }
  }
}

/** Written over the last one, without emptying the screen first: that would flicker. */
export function frame(text: string, height: number): string {
  const lines = text.split('\n').slice(0, height - 1);
  return `${HOME}${lines.map((line) => `${line}${REST_OF_LINE}\n`).join('')}${REST_OF_SCREEN}`;
}
