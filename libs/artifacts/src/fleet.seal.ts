import type { Cluster, Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { fleetIn } from './keys.js';
import type { ByteStore } from './stores/byte.store.js';

/** Where seals lie: beside the shards, each under a name that any file of ours may have. */
const FOLDER = 'fleets';
const NOTE = 'A fleet of Mooring, whose Redis says that this is its seal, keeps artifacts here.\n';

/**
 * Whose bytes these are. Another fleet may share the place and the prefix, and not the Redis: staging and production, or a
 * laptop. To each the other's bytes look like nobody's; so each leaves a seal before its first byte.
 */
export class FleetSeal {
  private left: Promise<void> | undefined;

  constructor(
    private readonly redis: Redis | Cluster,
    private readonly prefix: string,
    private readonly bytes: ByteStore,
  ) {}

  /** Before the first byte of this process. */
  leave(): Promise<void> {
    this.left ??= this.write().catch((error: unknown) => {
      this.left = undefined;
      throw error;
    });
    return this.left;
  }

  /** The seals of others. To be asked after bytes were seen: whoever wrote them had left one by then. */
  async others(): Promise<string[]> {
    const own = await this.own();
    return (await this.bytes.files(FOLDER)).filter((seal) => seal !== own).map((seal) => `${FOLDER}/${seal}`);
  }

  private async write(): Promise<void> {
    const seal = await this.own();
    const isThere = async (): Promise<boolean> => (await this.bytes.files(FOLDER)).includes(seal);
    if (await isThere()) return;
    try {
      await this.bytes.put(FOLDER, seal, note(), NOTE.length);
    } catch (error) {
      // Another process of the fleet was quicker.
      if (!(await isThere())) throw error;
    }
  }

  private async own(): Promise<string> {
    const key = fleetIn(this.prefix);
    const known = await this.redis.get(key);
    if (known !== null) return known;
    await this.redis.set(key, `0-${randomBytes(15).toString('base64url')}`, 'NX');
    return (await this.redis.get(key))!;
  }
}

async function* note(): AsyncGenerator<Uint8Array> {
  yield Buffer.from(NOTE);
}
