import { EventEmitter, once } from 'node:events';
import type { DrawerName } from '../drawers/load.js';
import { Child } from './child.js';
import type { PoolSpec } from './spec.js';
import type { Answer, Task } from './words.js';

/** Processes that are alike. They are started when there is work, and end when there has been none for a while. */
export class Pool {
  private readonly children = new Set<Child>();
  private readonly idle = new Map<Child, NodeJS.Timeout>();
  private readonly line = new Set<EventEmitter>();
  private readonly closing = new AbortController();
  private busy = 0;

  constructor(
    private readonly spec: PoolSpec,
    private readonly newChild = (): Child => new Child(spec),
  ) {}

  /** `begun` is called when its time begins to count. */
  async run(task: Task, timeMs: number, signal: AbortSignal, begun?: () => void): Promise<Answer> {
    await this.waitForTurn(signal);
    try {
      const child = this.takeIdle() ?? this.start();
      try {
        return await child.ask(task, timeMs, signal, begun);
      } finally {
        if (child.isFit) this.rest(child);
        else this.end(child);
      }
    } finally {
      this.endTurn();
    }
  }

  async close(): Promise<void> {
    this.closing.abort(new Error('The renderers are closed.'));
    for (const timer of this.idle.values()) clearTimeout(timer);
    this.idle.clear();
    await Promise.all([...this.children].map((child) => child.end()));
  }

  /** Whether one of its processes has loaded that. */
  has(drawer: DrawerName): boolean {
    return [...this.children].some((child) => child.has(drawer));
  }

  private async waitForTurn(caller: AbortSignal): Promise<void> {
    caller.throwIfAborted();
    if (this.busy < this.spec.processes) {
      this.busy += 1;
      return;
    }
    const signal = AbortSignal.any([caller, this.closing.signal]);
    const turn = new EventEmitter();
    this.line.add(turn);
    await once(turn, 'begin', { signal }).catch(() => {
      this.line.delete(turn);
      throw signal.reason as Error;
    });
  }

  private endTurn(): void {
    for (const turn of this.line) {
      this.line.delete(turn);
      // One that was aborted a moment ago no longer listens.
      if (turn.emit('begin')) return;
    }
    this.busy -= 1;
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

  private start(): Child {
    this.closing.signal.throwIfAborted();
    const child = this.newChild();
    this.children.add(child);
    return child;
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
