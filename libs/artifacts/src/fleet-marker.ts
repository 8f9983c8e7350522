import type { Cluster, Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { ArtifactError } from './artifact-error.js';
import { fleetIn } from './keys.js';
import type { ByteStore } from './stores/byte-store.js';

/** How long a seal counts as present after it was last seen. */
const FRESH_MS = 10_000;
/** Folder of the seals, next to the shards. */
const FOLDER = 'fleets';
const NOTE = 'A fleet of Mooring, whose Redis says that this is its seal, keeps artifacts here.\n';

/**
 * Marks the location of the artifacts as used by this fleet. Another fleet with its own Redis may share the location and the
 * prefix, such as staging and production. To each, the files of the other look unindexed, so each fleet leaves a seal before its
 * first file. If the own seal is missing, the volume is not mounted: without the check it would look empty.
 */
export class FleetMarker {
  private left: Promise<void> | undefined;
  private freshUntil = 0;

  constructor(
    private readonly redis: Redis | Cluster,
    private readonly prefix: string,
    private readonly bytes: ByteStore,
  ) {}

  /** Call before bytes are written. Throws if the seal of this fleet has disappeared. */
  leave(): Promise<void> {
    const now = performance.now();
    if (this.left && now < this.freshUntil) return this.left;
    this.freshUntil = now + FRESH_MS;
    this.left = this.write().catch((error: unknown) => {
      this.left = undefined;
      throw error;
    });
    return this.left;
  }

  /** Call before a missing file counts as removed. */
  async check(): Promise<void> {
    const { seal, isLeft } = await this.own();
    if (isLeft && !(await this.isThere(seal))) throw gone(seal);
  }

  /** Seals of other fleets. Call after files were listed, because a fleet leaves its seal before it writes files. */
  async others(): Promise<string[]> {
    const { seal: own } = await this.own();
    return (await this.bytes.files(FOLDER)).filter((seal) => seal !== own).map((seal) => `${FOLDER}/${seal}`);
  }

  private async write(): Promise<void> {
    const { seal, isLeft } = await this.own();
    if (!(await this.isThere(seal))) {
      if (isLeft) throw gone(seal);
      try {
        await this.bytes.put(FOLDER, seal, [Buffer.from(NOTE)], NOTE.length);
      } catch (error) {
        // Another process of the fleet may have written it first.
        if (!(await this.isThere(seal))) throw error;
      }
    }
    // Recorded after the seal was written, so that the record implies the seal.
    if (!isLeft) await this.redis.set(fleetIn(this.prefix), `${seal}${LEFT}`);
  }

  private async isThere(seal: string): Promise<boolean> {
    return (await this.bytes.files(FOLDER)).includes(seal);
  }

  private async own(): Promise<{ seal: string; isLeft: boolean }> {
    const key = fleetIn(this.prefix);
    let text = await this.redis.get(key);
    if (text === null) {
      await this.redis.set(key, `0-${randomBytes(15).toString('base64url')}`, 'NX');
      text = (await this.redis.get(key))!;
    }
    const isLeft = text.endsWith(LEFT);
    return { seal: isLeft ? text.slice(0, -LEFT.length) : text, isLeft };
  }
}

/** Suffix of the recorded name once the seal was written. */
const LEFT = ' left';

function gone(seal: string): ArtifactError {
  return new ArtifactError(
    'STORE_GONE',
    `The seal ${FOLDER}/${seal} of this fleet is missing from the location of its artifacts. Check that the volume is mounted and the location is right. ` +
      'Without the seal nothing is written and nothing counts as removed. If the files are lost for good, create an empty file with that name.',
  );
}
