import { Injectable } from '@nestjs/common';
import type { Sweep, SweepKind } from './sweep.js';

/** The sweeps this process can do; each names itself here when its module stands. */
@Injectable()
export class Sweeps {
  private readonly known = new Map<SweepKind, Sweep>();

  add(sweep: Sweep): void {
    if (this.known.has(sweep.kind)) throw new TypeError(`There are two sweeps of kind "${sweep.kind}".`);
    this.known.set(sweep.kind, sweep);
  }

  get(kind: SweepKind): Sweep | undefined {
    return this.known.get(kind);
  }
}
