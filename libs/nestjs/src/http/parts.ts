/** What the routes of sweeps need. The application provides it. */
interface SweepRecord {
  readonly sweepId: string;
}

export abstract class Sweeper {
  abstract ask(
    kind: string,
    order: { readonly dryRun?: boolean; readonly force?: boolean },
  ): Promise<SweepRecord>;
}

export abstract class SweepBook {
  abstract newest(): Promise<readonly SweepRecord[]>;
  abstract trips(): Promise<Readonly<Record<string, object>>>;
  abstract acknowledge(kind: string): Promise<void>;
  abstract find(sweepId: string): Promise<SweepRecord | undefined>;
  abstract lines(
    sweepId: string,
    from: number,
  ): Promise<{ readonly lines: readonly object[]; readonly next: number | null }>;
}

export abstract class Quarantine {
  abstract page(from: number): Promise<{ readonly jobs: readonly object[]; readonly next: number | null }>;
}
