import { setTimeout as pause } from 'node:timers/promises';
import type { Presented } from './ask.js';
import type { ExitCode, Tools } from './command.js';
import { isTransient } from './problems.js';
import { renderProblem } from './render/problem.js';

const EVERY_MS = 1_000;
/** The terminal's alternate screen, without cursor and without wrapping of lines; LEAVE restores all three. */
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l';
const LEAVE = '\x1b[?7h\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const REST_OF_LINE = '\x1b[K';
const REST_OF_SCREEN = '\x1b[J';
/** A terminal that knows synchronized output shows what is between them at once. */
const BEGIN = '\x1b[?2026h';
const END = '\x1b[?2026l';

/** Shows an answer again and again, until Ctrl-C. */
export async function redraw<T>(shown: Presented<T>, { api, out }: Tools): Promise<ExitCode> {
  // A wrong URL or key is reported before the screen is switched.
  let answer = await shown.read();
  let trouble = '';
  let last = '';
  const draw = (): void => {
    if (!out.isTerminal || out.isJson) return print();
    const title = `${out.screen.paint('bold', 'Mooring')} ${api.url}  ${new Date().toISOString().slice(11, 19)} UTC`;
    out.raw(frame([title, '', shown.render(answer, out.screen), '', trouble].join('\n'), out.height));
  };
  /** Without a terminal, and with --json, only what has changed. */
  const print = (): void => {
    const text = out.isJson ? JSON.stringify(answer) : shown.render(answer, out.screen);
    if (text !== last) out.print(last && !out.isJson ? `\n${text}` : text);
    last = text;
  };
  if (out.isTerminal && !out.isJson) {
    out.raw(ENTER);
    process.once('exit', () => out.raw(LEAVE));
    process.on('SIGWINCH', draw);
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(0));
  for (;;) {
    draw();
    await pause(EVERY_MS);
    try {
      answer = await shown.read();
      trouble = '';
    } catch (error) {
      if (!isTransient(error)) throw error;
      trouble = `${renderProblem(error as Error, out.screen)}\nThis is the last known state.`;
    }
  }
}

/** Overwrites the previous frame in place, because clearing the screen first would flicker. */
export function frame(text: string, height: number): string {
  const lines = text.split('\n').slice(0, height - 1);
  return `${BEGIN}${HOME}${lines.map((line) => `${line}${REST_OF_LINE}\n`).join('')}${REST_OF_SCREEN}${END}`;
}
