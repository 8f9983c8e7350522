export type ContainerSpec = {
  readonly name: string;
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  /** For an engine whose containers end by themselves: after how long, unless it is told otherwise (`endIn`). */
  readonly endsInMs?: number;
};

export type Container = {
  readonly id: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** By the engine's clock, ms. */
  readonly createdAt: number;
  readonly running: boolean;
};

/** Where containers run. Each call has a time limit of its own, and ends with its signal. */
export abstract class ContainerEngine {
  /** `process` or `docker`. */
  abstract readonly name: string;

  /** Which of that name, where processes that have one may have different ones. */
  get place(): string | undefined {
    return undefined;
  }

  /**
   * Created and started. Of a name that is taken it answers with the container that has it, whoever's it is, started if
   * it was left unstarted: compare the labels.
   */
  abstract create(spec: ContainerSpec, signal: AbortSignal): Promise<Container>;

  abstract find(id: string, signal: AbortSignal): Promise<Container | undefined>;

  abstract named(name: string, signal: AbortSignal): Promise<Container | undefined>;

  /** All that carry this label: a key, or `key=value`. */
  abstract list(label: string, signal: AbortSignal): Promise<readonly Container[]>;

  /** Already stopped, or gone, is done. */
  abstract stop(id: string, signal: AbortSignal): Promise<void>;

  /** Stopped first if it runs; gone is done. */
  abstract remove(id: string, signal: AbortSignal): Promise<void>;

  /** Whether its containers end by themselves at their deadline, when no process has said for seconds that the fleet lives. */
  get endsByItself(): boolean {
    return false;
  }

  /** Says to all containers that the fleet lives, which then ends them in time. */
  async tellAlive(): Promise<void> {
    // For an engine whose containers do not end by themselves.
  }

  /** Moves the deadline of a container. */
  async endIn(_id: string, _ms: number): Promise<void> {
    // Likewise.
  }

  abstract close(): Promise<void>;
}

/** The engine cannot run this image as it is: trying again does not help. */
export class NoSuchImage extends Error {}

/** The engine did not answer, or not with what was asked: try again. */
export class EngineUnavailable extends Error {}
