import type { Cluster, Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { ArtifactError } from './artifact-error.js';
import { fleetIn } from './keys.js';
import type { ByteStore } from './stores/byte-store.js';

/** How long it is taken for there since it was last seen. */
const FRESH_MS = 10_000;
/** Where seals lie: beside the shards, each under a name that any file of ours may have. */
const FOLDER = 'fleets';
const NOTE = 'A fleet of Mooring, whose Redis says that this is its seal, keeps artifacts here.\n';

/**
 * Whose bytes these are. Another fleet may share the place and the prefix, and not the Redis: staging and production, or a
 * laptop. To each the other's bytes look like nobody's; so each leaves a seal before its first byte. A place without the seal
 * that was left there is not that place: a volume that is not mounted looks like one from which everything was removed.
 */
export class FleetMarker {
  private left: Promise<void> | undefined;
  private freshUntil = 0;

  constructor(
    private readonly redis: Redis | Cluster,
    private readonly prefix: string,
    private readonly bytes: ByteStore,
  ) {}

  /** Before bytes are written. Should the place be gone, they are refused. */
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

  /** Before what is not there counts as removed. */
  async check(): Promise<void> {
    const { seal, isLeft } = await this.own();
    if (isLeft && !(await this.isThere(seal))) throw gone(seal);
  }

  /** The seals of others. To be asked after bytes were seen: whoever wrote them had left one by then. */
  async others(): Promise<string[]> {
    const { seal: own } = await this.own();
    return (await this.bytes.files(FOLDER)).filter((seal) => seal !== own).map((seal) => `${FOLDER}/${seal}`);
  }

  private async write(): Promise<void> {
    const { seal, isLeft } = await this.own();
    if (!(await this.isThere(seal))) {
      if (isLeft) throw gone(seal);
      try {
        await this.bytes.put(FOLDER, seal, note(), NOTE.length);
      } catch (error) {
        // Another process of the fleet was quicker.
        if (!(await this.isThere(seal))) throw error;
      }
    }
    // Behind it: whoever reads that it was left finds it.
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

/** Behind the name of a seal that was put there. */
const LEFT = ' left';

function gone(seal: string): ArtifactError {
  return new ArtifactError(
    'STORE_GONE',
    `The seal ${FOLDER}/${seal} of this fleet is not where its artifacts are: is the volume mounted, is it the right place? ` +
      'Nothing is written or counts as removed without it. If the bytes are lost for good, put an empty file of that name there.',
  );
}

async function* note(): AsyncGenerator<Uint8Array> {
  yield Buffer.from(NOTE);
}
