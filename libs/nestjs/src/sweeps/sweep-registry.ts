import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { MooringSetupError } from '../setup-error.js';
import type { SweepRecord } from './sweep-book.js';
import { SweepListener, type JobRemoval } from './sweep-listener.js';
import type { Command } from './sweep-store.js';
import { Sweep } from './sweep.js';

/** The sweeps and the listeners among the providers of this process. */
@Injectable()
export class SweepRegistry implements OnModuleInit {
  private readonly sweeps = new Map<string, Sweep>();
  private listeners: readonly SweepListener[] = [];

  constructor(private readonly discovery: DiscoveryService) {}

  onModuleInit(): void {
    const found = [...new Set(this.discovery.getProviders().map(({ instance }) => instance as unknown))];
    this.listeners = found.filter((each) => each instanceof SweepListener);
    for (const sweep of found.filter((each) => each instanceof Sweep)) {
      if (this.sweeps.has(sweep.kind))
        throw new MooringSetupError(`Two sweeps are named "${sweep.kind}". Rename or leave out one of them.`);
      this.sweeps.set(sweep.kind, sweep);
    }
  }

  get(kind: string): Sweep | undefined {
    return this.sweeps.get(kind);
  }

  kinds(): readonly string[] {
    return [...this.sweeps.keys()];
  }

  async jobsLeave(removals: readonly JobRemoval[]): Promise<void> {
    await Promise.all(this.listeners.map((listener) => listener.jobsLeave(removals)));
  }

  commandsAtEnd(record: SweepRecord): Command[] {
    return this.listeners.flatMap((listener) => listener.commandsAtEnd(record));
  }

  sweepEnded(record: SweepRecord): void {
    for (const listener of this.listeners) listener.sweepEnded(record);
  }
}
