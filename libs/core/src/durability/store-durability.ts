import type { Cluster, Redis } from 'ioredis';
import { InvalidJobError } from '../model/errors.js';
import { Barriers } from './barriers.js';
import type { Durability, DurabilityLevel, DurabilityOptions } from './durability.js';
import { prove, whyNever } from './proof.js';
import { sessionOf, type Session } from './sessions.js';
import { within } from './within.js';

const DEFAULT_TIMEOUT_MS = 1_000;
/** How long a caller waits after a barrier that was not confirmed: long enough to notice that they are again. */
const FAILING_MS = 50;

/**
 * Says of writes to one hash slot whether a replica, or the disk, holds them, and after a time limit that this is not known. A barrier
 * covers a write that went to the same server process over a connection that is still open.
 */
export class StoreDurability implements Durability {
  private readonly barriers = new Map<Redis, Barriers>();
  private checked: Promise<void> | undefined;
  private slot: number | undefined;

  /**
   * @param client the one that writes
   * @param key a key of the hash slot that is written to, for the barrier
   */
  constructor(
    private readonly client: () => Promise<Redis | Cluster>,
    private readonly key: string,
    private readonly level: DurabilityLevel,
    private readonly timeoutMs: number = DEFAULT_TIMEOUT_MS,
  ) {}

  async hold<T>(write: () => Promise<T>): Promise<{ readonly value: T; readonly isHeld: boolean }> {
    this.checked ??= this.check();
    await this.checked;
    const session = await this.node()
      .then(sessionOf)
      .catch(() => undefined);
    const value = await write();
    const isHeld = session && (await within(this.timeoutMs, this.isHeld(session)).catch(() => false));
    return { value, isHeld: isHeld ?? false };
  }

  close(): void {
    for (const barriers of this.barriers.values()) barriers.close();
  }

  /** Nothing is written to a store that can never say what is on its disk. */
  private async check(): Promise<void> {
    const why = await this.node()
      .then((node) => whyNever(node, this.level))
      .catch(() => (this.checked = undefined));
    if (why === undefined) return;
    this.checked = undefined;
    throw new InvalidJobError(
      `durability "${this.level}": the store ${why}. Change the store, or use "none". Nothing was written.`,
    );
  }

  private async isHeld(session: Session): Promise<boolean> {
    const barriers = this.barriersAt(session.node);
    const joined = barriers.join();
    const barrier = await (barriers.isFailing ? within(FAILING_MS, joined) : joined);
    return barrier?.isHeld === true && barrier.runId === session.runId && !session.isOver;
  }

  private barriersAt(node: Redis): Barriers {
    let barriers = this.barriers.get(node);
    if (!barriers) {
      // Twice the limit: a server that is only slow is not taken for one that never says so.
      const waitMs = 2 * this.timeoutMs;
      barriers = new Barriers(node, (redis) => prove(redis, this.level, this.key, waitMs), waitMs);
      this.barriers.set(node, barriers);
      node.once('end', () => {
        this.barriers.get(node)?.close();
        this.barriers.delete(node);
      });
    }
    return barriers;
  }

  /** The connection over which writes to the slot go now. */
  private async node(): Promise<Redis> {
    const client = await this.client();
    if (!client.isCluster) return client as Redis;
    const cluster = client as Cluster;
    this.slot ??= await cluster.cluster('KEYSLOT', this.key);
    const name = cluster.slots[this.slot]?.[0];
    const node = cluster
      .nodes('master')
      .find(({ options: { host, port } }) => `${String(host)}:${String(port)}` === name);
    if (!node) throw new Error(`No server is known to have the slot of ${this.key}.`);
    return node;
  }
}

/** What the options ask for; nothing when they ask for nothing. */
export function openDurability(
  options: Durability | DurabilityOptions | undefined,
  client: () => Promise<unknown>,
  root: string,
): Durability | undefined {
  if (!options || 'hold' in options) return options;
  const { level, timeoutMs } = options;
  if (level === 'none') return undefined;
  if (level !== 'replica' && level !== 'disk')
    throw new InvalidJobError('The level of durability is none, replica or disk.');
  if (timeoutMs !== undefined && !(timeoutMs > 0))
    throw new InvalidJobError('timeoutMs of durability is a number above 0.');
  return new StoreDurability(client as () => Promise<Redis>, `${root}~barrier`, level, timeoutMs);
}
