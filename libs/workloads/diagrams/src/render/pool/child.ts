import type { ChildProcess } from 'node:child_process';
import type { DrawerName } from '../drawers/load.js';
import { DiagramInvalid, RenderLimit, type Limit } from '../errors.js';
import { makeFolder, removeFolder } from './folders.js';
import { endGroup, memoryOf, memoryOfGroup, startedBy } from './proc.js';
import type { PoolSpec } from './spec.js';
import { start } from './start.js';
import { cut, type Answer, type Ready, type Task, type Word } from './words.js';

const START_MS = 30_000;
const LOOK_MS = 100;
const LOOK_AT_GROUP_MS = 500;
/** Of the memory it may have: a process that holds more between two renders is replaced. */
const FULL = 0.6;

/** One process that draws, one thing at a time. What takes too much or is no longer wanted is ended by killing it. */
export class Child {
  /** A browser's, for its profile, or for the fonts of a drawing. All others may write nowhere. */
  private readonly folder: string | undefined;
  private readonly process: ChildProcess;
  private readonly ended: Promise<RenderLimit>;
  private readonly ready: Promise<void>;
  private hear: (answer: Answer) => void = () => undefined;
  private group: number | undefined;
  private readonly loaded = new Set<DrawerName>();
  private tasks = 0;
  private isSpent = false;

  constructor(
    private readonly spec: PoolSpec,
    startProcess = start,
  ) {
    if (spec.setup.role !== 'draw') this.folder = makeFolder();
    this.process = startProcess(spec, this.folder ?? '/');
    this.ended = this.untilEnded();
    this.ready = this.listen();
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  has(drawer: DrawerName): boolean {
    return this.loaded.has(drawer) && !this.isSpent;
  }

  /** Whether it may be asked again. */
  get isFit(): boolean {
    return !this.isSpent && this.tasks < this.spec.renders && this.memory() < this.spec.memoryMb * FULL;
  }

  /** @throws DiagramInvalid, RenderLimit, or the signal's reason: after the last two it is gone. */
  async ask(task: Task, timeMs: number, signal: AbortSignal, begun?: () => void): Promise<Answer> {
    this.tasks += 1;
    try {
      await this.started(signal, this.ready);
      if ('drawer' in task) await this.load(task.drawer, signal);
      this.isSpent ||= task.do === 'draw' && this.spec.drawsOnce === true;
      begun?.();
      return this.told(await this.within(timeMs, signal, this.answerTo(task)));
    } catch (error) {
      if (!(error instanceof DiagramInvalid)) await this.end();
      throw error;
    }
  }

  /** Settles when it is gone, and with it what it started. */
  async end(): Promise<void> {
    this.isSpent = true;
    // Somebody waits for it again.
    this.process.ref();
    this.endBrowser();
    this.process.kill('SIGKILL');
    await this.ended;
  }

  /** Apart from the drawing: what that may take does not depend on who comes first. */
  private async load(drawer: DrawerName, signal: AbortSignal): Promise<void> {
    if (this.loaded.has(drawer)) return;
    this.told(await this.started(signal, this.answerTo({ do: 'load', drawer })));
    this.loaded.add(drawer);
  }

  private answerTo(task: Task): Promise<Answer> {
    return new Promise((resolve) => {
      this.hear = resolve;
      this.process.send(task, () => undefined);
    });
  }

  private listen(): Promise<void> {
    return new Promise((resolve) => {
      let isReady = false;
      // Whatever runs there may say anything.
      this.process.on('message', (word: Word | null) => {
        if (word?.said === 'ready') {
          if (!isReady) this.begin(word);
          isReady = true;
          resolve();
        } else if (word) this.hear(word);
      });
    });
  }

  private begin(ready: Ready): void {
    this.group = this.ownGroup(ready);
    if (this.spec.setup.role === 'browse' && ready.isOpen) this.spec.onOpen?.();
  }

  /** It is killed with the process: so it must be a browser's, and one that this process started. */
  private ownGroup({ group }: Ready): number | undefined {
    if (this.spec.setup.role !== 'browse' || !Number.isInteger(group) || group! <= 1) return undefined;
    const started = this.pid === undefined ? undefined : startedBy(this.pid);
    return !started || started.includes(group!) ? group : undefined;
  }

  /** Before the process that started it, and which alone knows of it until it is ready. Stopped, that starts no more. */
  private endBrowser(): void {
    if (this.spec.setup.role !== 'browse' || this.pid === undefined) return;
    this.process.kill('SIGSTOP');
    for (const leader of startedBy(this.pid) ?? []) endGroup(leader);
  }

  private told(answer: Answer): Answer {
    if (answer.said === 'limit') throw new RenderLimit(answer.limit, cut(answer.message));
    if (answer.said !== 'invalid') return answer;
    this.isSpent ||= answer.worn;
    throw new DiagramInvalid(cut(answer.message), answer);
  }

  /** What is slow then is this machine, and not the source. */
  private started<T>(signal: AbortSignal, what: Promise<T>): Promise<T> {
    return this.within(this.spec.startMs ?? START_MS, signal, what, 'process');
  }

  /** The first that happens: the answer, the end of the time or the memory, a loss of interest, the process's end. */
  private async within<T>(
    ms: number,
    signal: AbortSignal,
    what: Promise<T>,
    limit: Limit = 'time',
  ): Promise<T> {
    let stop!: (reason: Error) => void;
    const stopped = new Promise<never>((_, reject) => (stop = reject));
    const late = setTimeout(() => stop(new RenderLimit(limit, `It took longer than ${ms} ms.`)), ms);
    const looks = setInterval(
      () => this.memory() > this.spec.memoryMb && stop(this.tooLarge()),
      this.group ? LOOK_AT_GROUP_MS : LOOK_MS,
    );
    const abort = (): void => stop(signal.reason as Error);
    signal.addEventListener('abort', abort);
    try {
      signal.throwIfAborted();
      return await Promise.race([what, stopped, this.ended.then((error) => Promise.reject(error))]);
    } finally {
      clearTimeout(late);
      clearInterval(looks);
      signal.removeEventListener('abort', abort);
    }
  }

  private memory(): number {
    return (this.pid ? memoryOf(this.pid) : 0) + (this.group ? memoryOfGroup(this.group) : 0);
  }

  private tooLarge(): RenderLimit {
    return new RenderLimit('memory', `It took more than ${this.spec.memoryMb} MB of memory.`);
  }

  private async untilEnded(): Promise<RenderLimit> {
    let said = '';
    this.process.stderr?.on('data', (text: Buffer) => (said = (said + text.toString()).slice(-4_000)));
    const how = await new Promise<string>((resolve) => {
      this.process.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
      // Without a pid there was no process. Other errors are of a process that lives on.
      this.process.on(
        'error',
        (error) => this.pid === undefined && resolve(`it did not start (${error.message})`),
      );
    });
    this.isSpent = true;
    if (this.group) endGroup(this.group);
    if (this.folder) await removeFolder(this.folder);
    if (/heap out of memory|Allocation failed|allocation failure/i.test(said)) return this.tooLarge();
    return new RenderLimit('process', `Its process ended: ${how}.`);
  }
}
