import { setTimeout as pause } from 'node:timers/promises';
import { BenchProcess } from './bench-process.js';
import { median } from './median.js';
import type { Waited } from './prober.process.js';
import type { Store } from './redis-server.js';

/** Somebody else who uses a store, in a process of its own, and says how long it was kept waiting. */
export class Prober {
  private constructor(private readonly prober: BenchProcess) {}

  static async start({ url, pid }: Store): Promise<Prober> {
    const entry = new URL('prober.process.js', import.meta.url);
    return new Prober(await BenchProcess.start(entry, [url, String(pid)]));
  }

  /** How long it waits while something is done. */
  async during<T>(work: () => Promise<T>): Promise<{ answer: T; waited: Waited }> {
    await this.prober.ask({ act: 'start' });
    const answer = await work();
    return { answer, waited: await this.prober.ask<Waited>({ act: 'stop' }) };
  }

  /** How long it waits while nothing is asked of the store. */
  async quiet(ms: number): Promise<Waited> {
    return (await this.during(() => pause(ms))).waited;
  }

  stop(): Promise<void> {
    return this.prober.stop();
  }
}

export function medianWait(waits: readonly Waited[]): Waited {
  const of = (figure: (one: Waited) => number): number => median(waits.map(figure));
  return {
    worst: of(({ worst }) => worst),
    busy: of(({ busy }) => busy),
    busyP99: of(({ busyP99 }) => busyP99),
  };
}
