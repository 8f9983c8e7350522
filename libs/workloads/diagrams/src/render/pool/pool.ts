import type { DrawerName } from '../drawers/load.js';
import { Child } from './child.js';
import type { PoolSpec } from './spec.js';
import type { Answer, Task } from './words.js';

interface Waiting {
  begin(child: Child): void;
  refuse(error: Error): void;
}

/** Processes that are alike. They are started when there is work, and end when there has been none for a while. */
export class Pool {
  private readonly children = new Set<Child>();
  private readonly idle = new Map<Child, NodeJS.Timeout>();
  private readonly line: Waiting[] = [];
  private isClosed = false;

  constructor(private readonly spec: PoolSpec) {}

  /** `begun` is called when its time begins to count. */
  async run(task: Task, timeMs: number, signal: AbortSignal, begun?: () => void): Promise<Answer> {
    const child = await this.take(signal);
    try {
      return await child.ask(task, timeMs, signal, begun);
    } finally {
      this.giveBack(child);
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const timer of this.idle.values()) clearTimeout(timer);
    this.idle.clear();
    this.refuseAll(new Error('The renderers are closed.'));
    await Promise.all([...this.children].map((child) => child.end()));
  }

  /** Whether one of its processes has loaded that. */
  has(drawer: DrawerName): boolean {
    return [...this.children].some((child) => child.has(drawer));
  }

  private async take(signal: AbortSignal): Promise<Child> {
    signal.throwIfAborted();
    return this.takeIdle() ?? this.start() ?? this.waitInLine(signal);
  }

  /** The one used last: the others may come to their end. */
  private takeIdle(): Child | undefined {
    for (const child of [...this.idle.keys()].toReversed()) {
      clearTimeout(this.idle.get(child));
      this.idle.delete(child);
      if (child.isFit) return child;
      this.end(child);
    }
    return undefined;
  }

  private start(): Child | undefined {
    if (this.isClosed) throw new Error('The renderers are closed.');
    if (this.children.size >= this.spec.processes) return undefined;
    const child = new Child(this.spec);
    this.children.add(child);
    return child;
  }

  private waitInLine(signal: AbortSignal): Promise<Child> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.line.splice(this.line.indexOf(waiting), 1);
        reject(signal.reason as Error);
      };
      const waiting: Waiting = {
        begin(child) {
          signal.removeEventListener('abort', leave);
          resolve(child);
        },
        refuse(error) {
          signal.removeEventListener('abort', leave);
          reject(error);
        },
      };
      this.line.push(waiting);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  private giveBack(child: Child): void {
    if (!child.isFit) {
      this.end(child);
      if (!this.isClosed && this.line.length > 0) this.replace();
    } else if (this.line.length > 0) this.hand(child);
    else this.rest(child);
  }

  /**
   * Not reported to a caller that returns its process, because it has its answer. Waiting callers learn of
   * the failure only here.
   */
  private replace(): void {
    try {
      this.hand(this.start());
    } catch (error) {
      this.refuseAll(error as Error);
    }
  }

  private refuseAll(error: Error): void {
    for (const waiting of this.line.splice(0)) waiting.refuse(error);
  }

  private hand(child: Child | undefined): void {
    if (child) this.line.shift()?.begin(child);
  }

  private rest(child: Child): void {
    const timer = setTimeout(() => {
      this.idle.delete(child);
      this.end(child);
    }, this.spec.idleMs);
    timer.unref();
    this.idle.set(child, timer);
  }

  private end(child: Child): void {
    this.children.delete(child);
    void child.end();
  }
}
