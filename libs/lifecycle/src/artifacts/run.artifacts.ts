import { NoArtifactStoreError } from '../errors.js';
import type {
  Artifact,
  ArtifactBytes,
  ArtifactMaker,
  ArtifactOptions,
  JobArtifacts,
} from './job.artifacts.js';

/** What one run leaves behind. It is to be seen when the run's result counts, and never if another has overtaken it. */
export class RunArtifacts {
  private readonly made: Artifact[] = [];
  private hasTried = false;

  /** @internal */
  constructor(
    private readonly artifacts: JobArtifacts | undefined,
    private readonly maker: () => Omit<ArtifactMaker, 'check'>,
    /** Throws when what the run makes does not count any more. */
    private readonly check: () => void,
  ) {}

  /** Of two of one name the later counts. A stream is read as fast as it can be stored, and not further than its limit. */
  async put(name: string, bytes: ArtifactBytes, options: ArtifactOptions = {}): Promise<Artifact> {
    if (!this.artifacts) throw new NoArtifactStoreError();
    this.check();
    this.hasTried = true;
    const given = typeof bytes === 'string' || bytes instanceof Uint8Array ? bytes : this.whileWanted(bytes);
    const maker = { ...this.maker(), check: this.check };
    const artifact = await this.artifacts.put(maker, name, given, options);
    this.check();
    this.made.push(artifact);
    return artifact;
  }

  /** What this run has put so far. */
  list(): readonly Artifact[] {
    return [...this.made];
  }

  /** @internal Whether there may be something of it. */
  get isThere(): boolean {
    return this.hasTried;
  }

  private async *whileWanted(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      this.check();
      yield chunk;
    }
  }
}
