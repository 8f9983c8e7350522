import type { Cluster, Redis } from 'ioredis';

/** The servers that writes go to. */
export interface Servers {
  /** The connections over which a write goes now. */
  nodes(): Promise<readonly Redis[]>;
  /** A key that this server accepts, for its barrier; undefined if it has none, and then it confirms nothing. */
  keyAt(node: Redis): string | undefined;
}

/** The one server that has the hash slot of a key. */
export class SlotServer implements Servers {
  private slot: number | undefined;

  /**
   * @param client the one that writes
   * @param key a key of the hash slot that is written to
   */
  constructor(
    private readonly client: () => Promise<Redis | Cluster>,
    private readonly key: string,
  ) {}

  async nodes(): Promise<readonly Redis[]> {
    const client = await this.client();
    if (!client.isCluster) return [client as Redis];
    const cluster = client as Cluster;
    this.slot ??= await cluster.cluster('KEYSLOT', this.key);
    const name = cluster.slots[this.slot]?.[0];
    const node = cluster
      .nodes('master')
      .find(({ options: { host, port } }) => `${String(host)}:${String(port)}` === name);
    if (!node) throw new Error(`No server is known to have the slot of ${this.key}.`);
    return [node];
  }

  keyAt(): string {
    return this.key;
  }
}
