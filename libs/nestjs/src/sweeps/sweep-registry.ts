import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { MooringSetupError } from '../setup-error.js';
import { Sweep } from './sweep.js';

/** The sweeps among the providers of this process. */
@Injectable()
export class SweepRegistry implements OnModuleInit {
  private readonly sweeps = new Map<string, Sweep>();

  constructor(private readonly discovery: DiscoveryService) {}

  onModuleInit(): void {
    const found = [...new Set(this.discovery.getProviders().map(({ instance }) => instance as unknown))];
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
}
