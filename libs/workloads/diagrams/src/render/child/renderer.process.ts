import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { drawerOf } from '../drawers/load.js';
import { DiagramInvalid, RenderLimit } from '../errors.js';
import type { Answer, Task, Word } from '../pool/words.js';
import { closeDoors } from './closed-doors.js';
import { finish } from './finish.js';

/*
 * A process that draws: it is told one task at a time over IPC and answers each. Its parent bounds its time and memory,
 * and kills it. It ends with its parent, however that ends.
 */

process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// Sent to all processes at once, these reach the parent as well, which decides what ends when.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);

await watchParent();
closeDoors();
process.on('message', (task: Task) => void perform(task).then(say, (error: unknown) => say(answerTo(error))));
say({ said: 'ready' });

/** A thread beside this one, which may be in a loop of a renderer's when the parent dies. */
async function watchParent(): Promise<void> {
  const watchdog = new Worker(new URL('./watchdog.js', import.meta.url));
  await once(watchdog, 'message');
  watchdog.unref();
}

async function perform(task: Task): Promise<Answer> {
  switch (task.do) {
    case 'draw':
      return { said: 'drawn', svg: await (await drawerOf(task.type)).draw(task.source) };
    case 'check':
      await (await drawerOf(task.type)).check?.(task.source);
      return { said: 'checked' };
    case 'finish':
      return { said: 'finished', bytes: await finish(task) };
  }
}

function answerTo(error: unknown): Answer {
  if (error instanceof RenderLimit) return { said: 'limit', limit: error.limit, message: error.message };
  const { message } = error instanceof Error ? error : new Error(String(error));
  if (error instanceof DiagramInvalid) {
    const { line, column } = error;
    return { said: 'invalid', message, line, column, worn: false };
  }
  if (isOutOfRoom(error))
    return { said: 'limit', limit: 'memory', message: `It is too large to draw: ${message}` };
  // A renderer that fell over its source may be left in any state.
  return { said: 'invalid', message, worn: true };
}

/** A stack or a string that is full, or a trap in WebAssembly. */
function isOutOfRoom(error: unknown): boolean {
  return error instanceof RangeError || (error as Error | undefined)?.name === 'RuntimeError';
}

function say(word: Word): void {
  process.send!(word);
}
