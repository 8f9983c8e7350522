import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

/** The dialect of the API. */
export type Flavour = 'docker' | 'podman';

/** The requested settings, as in the API. */
export interface Wanted {
  readonly Image: string;
  readonly Labels?: Record<string, string>;
  readonly StopSignal?: string;
  readonly HostConfig?: Record<string, unknown>;
}

/** A container of a fake engine, and the times of its events in ms. */
export class FakeContainer {
  readonly id = randomBytes(32).toString('hex');
  readonly createdAt = Date.now();
  startedAt: number | undefined;
  endedAt: number | undefined;
  removedAt: number | undefined;
  private exitCode = 0;

  constructor(
    readonly name: string,
    readonly wanted: Wanted,
  ) {}

  get labels(): Record<string, string> {
    return this.wanted.Labels ?? {};
  }

  get isRunning(): boolean {
    return this.startedAt !== undefined && this.endedAt === undefined;
  }

  carries(label: string): boolean {
    const [key = '', ...value] = label.split('=');
    return label.includes('=') ? this.labels[key] === value.join('=') : key in this.labels;
  }

  /** True if the state changed. */
  start(): boolean {
    if (this.isRunning) return false;
    this.startedAt = Date.now();
    this.endedAt = undefined;
    return true;
  }

  /** The first process of a plain image ignores SIGTERM: it is killed after the grace period. */
  async stop(graceMs: number): Promise<boolean> {
    if (!this.isRunning) return false;
    if (!/KILL$|^9$/.test(this.wanted.StopSignal ?? '')) await pause(graceMs);
    this.exit(137);
    return true;
  }

  /** Also called when the container ends by itself. */
  exit(code = 0): void {
    this.exitCode = code;
    this.endedAt = Date.now();
  }

  inspected(flavour: Flavour): unknown {
    return {
      Id: this.id,
      Name: `/${this.name}`,
      Created: new Date(this.createdAt).toISOString().replace('Z', '123456Z'),
      State: {
        Status: this.state,
        Running: this.isRunning,
        ExitCode: this.exitCode,
        ...(flavour === 'podman' && { Health: { Status: '' } }),
      },
      Config: { Image: this.wanted.Image, Labels: this.labels },
      HostConfig: this.wanted.HostConfig ?? {},
    };
  }

  listed(): unknown {
    return {
      Id: this.id,
      Names: [`/${this.name}`],
      Created: Math.floor(this.createdAt / 1_000),
      State: this.state,
      Labels: this.labels,
      Image: this.wanted.Image,
    };
  }

  private get state(): string {
    if (this.isRunning) return 'running';
    return this.startedAt === undefined ? 'created' : 'exited';
  }
}
