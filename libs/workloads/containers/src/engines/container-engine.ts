export type ContainerSpec = {
  readonly name: string;
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  /** For an engine whose containers end by themselves: initial time to live, until `endIn` changes it. */
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

/** Runs containers. Each call has its own time limit and stops on its signal. */
export abstract class ContainerEngine {
  /** `process` or `docker`. */
  abstract readonly name: string;

  /** Distinguishes engines of the same name, where processes may use different ones. */
  async place(): Promise<string | undefined> {
    return undefined;
  }

  /** Identifies this engine: only a process that has it can say whether one of its containers exists. */
  async address(): Promise<string> {
    const place = await this.place();
    return place === undefined ? this.name : `${this.name}@${place}`;
  }

  /** Records from before places were introduced have none. */
  async isAt(address: string): Promise<boolean> {
    return address === this.name || address === (await this.address());
  }

  /**
   * Creates and starts a container. If the name is taken, returns the container that has it, even a foreign
   * one, and starts it if it was never started: the caller must compare the labels.
   */
  abstract create(spec: ContainerSpec, signal: AbortSignal): Promise<Container>;

  abstract find(id: string, signal: AbortSignal): Promise<Container | undefined>;

  abstract named(name: string, signal: AbortSignal): Promise<Container | undefined>;

  /** Lists containers with a label: a key, or `key=value`. */
  abstract list(label: string, signal: AbortSignal): Promise<readonly Container[]>;

  /** Succeeds if the container is stopped or gone. */
  abstract stop(id: string, signal: AbortSignal): Promise<void>;

  /** Stops the container first if it runs; succeeds if it is gone. */
  abstract remove(id: string, signal: AbortSignal): Promise<void>;

  /**
   * True if containers end by themselves at their deadline once no process has announced the fleet for some
   * seconds.
   */
  get endsByItself(): boolean {
    return false;
  }

  /** Announces to all containers that the fleet is alive and will end them in time. */
  async tellAlive(): Promise<void> {
    // For an engine whose containers do not end by themselves.
  }

  /** Moves the deadline of a container that ends by itself. */
  async endIn(_id: string, _ms: number): Promise<void> {}
}

/** True if the labels contain a label: a key, or `key=value`. */
export function carries(labels: Container['labels'], label: string): boolean {
  const [key = '', ...value] = label.split('=');
  return Object.hasOwn(labels, key) && (value.length === 0 || labels[key] === value.join('='));
}

/** The engine cannot run this image; a retry does not help. */
export class NoSuchImage extends Error {}

/** The engine did not answer, or answered with an error; a retry may help. */
export class EngineUnavailable extends Error {}
