import { setTimeout as pause } from 'node:timers/promises';
import type { Queues } from '../answers.js';
import type { Command, ExitCode, Tools } from '../command.js';
import { isTransient, noWords } from '../problems.js';
import { renderProblem } from '../render/problem.js';
import { queuesCommand, QUEUES_PATH, renderQueues } from './queues.js';

const EVERY_MS = 1_000;
/** Switches to the terminal's alternate screen and hides the cursor; LEAVE restores both. */
const ENTER = '\x1b[?1049h\x1b[?25l';
const LEAVE = '\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const REST_OF_LINE = '\x1b[K';
const REST_OF_SCREEN = '\x1b[J';

export const topCommand: Command = {
  name: 'top',
  usage: ['top'],
  description: 'show the queues, updated every second; Ctrl-C quits',
  options: {},
  run: async (parsed, tools) => {
    noWords(parsed.words);
    return tools.out.isTerminal && !tools.out.isJson ? watch(tools) : queuesCommand.run(parsed, tools);
  },
};

async function watch({ api, out }: Tools): Promise<ExitCode> {
  // A wrong URL or key is reported before the screen is switched.
  let shown = await api.get<Queues>(QUEUES_PATH);
  let trouble = '';
  out.raw(ENTER);
  process.once('exit', () => out.raw(LEAVE));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(0));
  for (;;) {
    const title = `${out.paint('bold', 'Mooring')} ${api.url}  ${new Date().toISOString().slice(11, 19)} UTC`;
    out.raw(frame([title, '', renderQueues(shown, out.paint), '', trouble].join('\n'), out.height));
    await pause(EVERY_MS);
    try {
      shown = await api.get<Queues>(QUEUES_PATH);
      trouble = '';
    } catch (error) {
      if (!isTransient(error)) throw error;
      trouble = `${renderProblem(error as Error, out.paint)}\nThe table shows the last known state.`;
    }
  }
}

/** Overwrites the previous frame in place, because clearing the screen first would flicker. */
export function frame(text: string, height: number): string {
  const lines = text.split('\n').slice(0, height - 1);
  return `${HOME}${lines.map((line) => `${line}${REST_OF_LINE}\n`).join('')}${REST_OF_SCREEN}`;
}
