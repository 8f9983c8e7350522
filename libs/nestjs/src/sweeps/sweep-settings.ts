import { durationMs } from '#core/parts';
import { Inject, Injectable } from '@nestjs/common';
import { MOORING_OPTIONS, type MooringOptions, type SweepOptions } from '../options.js';
import { MooringSetupError } from '../setup-error.js';

/** How often each kind of sweep begins, if the application does not say. Other kinds have no default. */
const EVERY: NonNullable<SweepOptions['every']> = {
  orphans: '2m',
  retention: '60m',
  expiry: '5s',
  artifacts: '60m',
  repair: '10m',
};
const LEAST_MS = 100;
/** The longest time that a timer of Node can wait. */
const MOST_MS = 2 ** 31 - 1;

/** The options of sweeps, checked, in ms. */
@Injectable()
export class SweepSettings {
  /** Whether this process begins sweeps by itself. */
  readonly hasTimers: boolean;
  readonly adoptMs: number;
  readonly resumeMs: number;
  readonly ownerGraceMs: number;
  readonly artifactGraceMs: number;
  readonly lockMs: number;
  readonly stallMs: number;
  readonly maxRatio: number;
  private readonly every: NonNullable<SweepOptions['every']>;

  constructor(@Inject(MOORING_OPTIONS) { sweeps = false }: MooringOptions) {
    const options: SweepOptions = typeof sweeps === 'object' ? sweeps : {};
    const { timers = true, every, maxRatio = 0.2, adoptEvery = '30s', resumeEvery = '30s' } = options;
    this.hasTimers = sweeps !== false && timers;
    this.every = { ...EVERY, ...every };
    this.adoptMs = interval('adoptEvery', adoptEvery);
    this.resumeMs = interval('resumeEvery', resumeEvery);
    this.ownerGraceMs = durationMs('sweeps.ownerGrace', options.ownerGrace ?? '30s');
    this.artifactGraceMs = durationMs('sweeps.artifactGrace', options.artifactGrace ?? '5m');
    this.lockMs = interval('lock', options.lock ?? '15s');
    this.stallMs = durationMs('sweeps.stall', options.stall ?? '10ms');
    this.maxRatio = maxRatio;
    if (!(maxRatio > 0 && maxRatio <= 1))
      throw new MooringSetupError(`sweeps.maxRatio is above 0 and at most 1; got ${maxRatio}.`);
    for (const kind of Object.keys(this.every)) this.everyMs(kind);
  }

  /** Undefined for a sweep without a timer. */
  everyMs(kind: string): number | undefined {
    const given = this.every[kind] ?? false;
    return given === false ? undefined : interval(`every.${kind}`, given);
  }
}

function interval(name: string, given: number | string): number {
  const ms = durationMs(`sweeps.${name}`, given);
  if (ms >= LEAST_MS && ms <= MOST_MS) return ms;
  throw new MooringSetupError(
    `sweeps.${name} is at least 100ms and at most 24d; got ${JSON.stringify(given)}.`,
  );
}
