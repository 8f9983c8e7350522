import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Drawer } from '../drawers/drawer.js';
import { drawerOf, type DrawerName } from '../drawers/load.js';
import { DiagramInvalid, RenderLimit } from '../errors.js';
import type { Setup } from '../pool/spec.js';
import { cut, type Answer, type Ready, type Task, type Word } from '../pool/words.js';
import { closeDoors } from './disable-node-apis.js';
import { isOutOfMemory, isTrap } from './faults.js';
import { endBrowser } from './end-browser.js';

/*
 * A process that draws: `node renderer.process.js <setup>`. It is told one task at a time over IPC and answers each. Its
 * parent bounds its time and memory and kills it; it ends with its parent, however that ends.
 */

type Finish = Extract<Task, { do: 'finish' }>;

const setup = JSON.parse(process.argv[2]!) as Setup;

// The watchdog tidies up, and then ends it: until then it must not end by itself for want of work.
process.once('disconnect', () => setInterval(() => undefined, 60_000));
// Sent to all processes at once, these reach the parent as well, which decides what ends when.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);

await startWatchdog();
const finish = setup.role === 'finish' ? await loadFinish(setup.fonts) : undefined;
const browser = setup.role === 'browse' ? await browse(setup.chromium) : {};
// Now that it has all it needs. What a renderer loads later, it loads behind them.
closeDoors();
process.on('message', (task: Task) => void perform(task).catch(answerTo).then(say));
say({ said: 'ready', ...browser });

/** A thread beside this one, which may be in a loop of a renderer's when the parent dies. */
async function startWatchdog(): Promise<void> {
  const folder = setup.role === 'draw' ? undefined : process.cwd();
  const watchdog = new Worker(new URL('./watchdog.js', import.meta.url), { workerData: { folder } });
  await once(watchdog, 'message');
  watchdog.unref();
}

async function loadFinish(fallback: string | undefined): Promise<(task: Finish) => Answer> {
  const module = await import('./finish.js');
  return (task) => module.finish(task, { own: process.cwd(), fallback });
}

async function browse(chromium: string): Promise<Pick<Ready, 'group' | 'isOpen'>> {
  const profile = process.cwd();
  // A browser that is killed while it starts ends this process, too: perhaps before its watchdog has tidied up.
  process.once('exit', () => endBrowser(profile));
  const { startBrowser } = await import('../browser/browser.js');
  return startBrowser(chromium, profile);
}

async function perform(task: Task): Promise<Answer> {
  if (task.do === 'finish') return finish!(task);
  const drawer = await loaded(task.drawer);
  if (task.do === 'load') return { said: 'loaded' };
  if (task.do === 'draw') return drawn(await drawer.draw(task.source), task.outputBytes);
  await drawer.check?.(task.source);
  return { said: 'checked' };
}

/** What cannot be loaded is no fault of the source. */
async function loaded(name: DrawerName): Promise<Drawer> {
  try {
    return await drawerOf(name);
  } catch (error) {
    throw new RenderLimit('process', `What draws ${name} cannot be loaded: ${(error as Error).message}`);
  }
}

/** Looked at here: what is too large is not handed over. */
function drawn(svg: string, outputBytes: number): Answer {
  if (svg.length <= outputBytes) return { said: 'drawn', svg };
  throw new RenderLimit('size', `The drawing has more than ${outputBytes} bytes.`);
}

function answerTo(error: unknown): Answer {
  const message = cut(error instanceof Error ? error.message : error);
  if (error instanceof RenderLimit) return { said: 'limit', limit: error.limit, message };
  if (error instanceof DiagramInvalid) {
    const { line, column } = error;
    return { said: 'invalid', message, line, column, worn: false };
  }
  if (isOutOfMemory(error))
    return { said: 'limit', limit: 'memory', message: `It is too much to draw: ${message}` };
  if (isTrap(error)) {
    // Without Emscripten's advice to its developers.
    const plain = message.replace(/ Build with -sASSERTIONS for more info\.$/, '');
    return { said: 'limit', limit: 'process', message: `Its renderer failed on it: ${plain}` };
  }
  // A renderer that fell over its source may be left in any state.
  return { said: 'invalid', message, worn: true };
}

/** Without effect when the parent is dead: the watchdog ends this process. */
function say(word: Word): void {
  process.send?.(word, () => undefined);
}
