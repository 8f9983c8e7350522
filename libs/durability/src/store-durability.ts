import type { Redis } from 'ioredis';
import { Barriers } from './barriers.js';
import type { Durability, DurabilityLevel } from './durability.js';
import { hasReplica, prove, whyNever } from './proof.js';
import type { Servers } from './servers.js';
import { sessionOf, type Session } from './sessions.js';
import { within } from './within.js';

const DEFAULT_TIMEOUT_MS = 1_000;
/** How long a caller waits after a barrier that was not confirmed: long enough to notice that they are again. */
const FAILING_MS = 50;

export interface StoreDurabilityOptions {
  readonly servers: Servers;
  readonly level: DurabilityLevel;
  /** How long a caller waits for the confirmation. Default 1 s. */
  readonly timeoutMs?: number | undefined;
  /** Makes the error for a store that can never confirm a write. Then nothing is written. Without it, the store is not asked. */
  readonly refuse?: (why: string) => Error;
}

/**
 * Confirms that a replica, or the disk, of each server holds a write. After a time limit this is not known. A barrier covers a
 * write that went to the same server process over a connection that is still open.
 */
export class StoreDurability implements Durability {
  readonly level: DurabilityLevel;
  private readonly servers: Servers;
  private readonly timeoutMs: number;
  private readonly barriers = new Map<Redis, Barriers>();
  private checked: Promise<void> | undefined;

  constructor(private readonly options: StoreDurabilityOptions) {
    this.level = options.level;
    this.servers = options.servers;
    this.timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  }

  async hold<T>(write: () => Promise<T>): Promise<{ readonly value: T; readonly isHeld: boolean }> {
    const { refuse } = this.options;
    if (refuse) await (this.checked ??= this.check(refuse));
    const nodes = await this.servers.nodes().catch(() => []);
    // Not awaited: the write has the time limit of its caller. A connection that closes from here on ends its session.
    const asked = Promise.all(nodes.map(sessionOf));
    // If the write fails, its error is the answer.
    asked.catch(() => undefined);
    const value = await write();
    const isHeld = await within(
      this.timeoutMs,
      asked.then((sessions) => this.areHeld(sessions)),
    ).catch(() => false);
    return { value, isHeld: isHeld ?? false };
  }

  /** Why these servers can never confirm the level; undefined if they can. */
  async whyNever(): Promise<string | undefined> {
    const nodes = await this.servers.nodes();
    const reasons = await Promise.all(nodes.map((node) => whyNever(node, this.level)));
    return reasons.find((reason) => reason !== undefined);
  }

  /** Whether the level needs a replica and a server has none now, so that no write is confirmed. */
  async lacksReplica(): Promise<boolean> {
    if (this.level !== 'replica') return false;
    const nodes = await this.servers.nodes();
    return (await Promise.all(nodes.map(hasReplica))).includes(false);
  }

  close(): void {
    for (const barriers of this.barriers.values()) barriers.close();
  }

  /** Asks once. A store that refused, or could not be asked, is asked again before the next write. */
  private async check(refuse: (why: string) => Error): Promise<void> {
    const why = await this.whyNever().catch(() => (this.checked = undefined));
    if (why === undefined) return;
    this.checked = undefined;
    throw refuse(why);
  }

  private async areHeld(sessions: readonly Session[]): Promise<boolean> {
    const held = await Promise.all(sessions.map((session) => this.isHeld(session)));
    if (held.length === 0 || held.includes(false)) return false;
    // A server that was added meanwhile may have received the write.
    const nodes = await this.servers.nodes();
    return nodes.every((node) => sessions.some((session) => session.node === node && !session.isOver));
  }

  private async isHeld({ node, runId }: Session): Promise<boolean> {
    const barriers = this.barriersAt(node);
    const joined = barriers.join();
    const barrier = await (barriers.isFailing ? within(FAILING_MS, joined) : joined);
    return barrier?.isHeld === true && barrier.runId === runId;
  }

  private barriersAt(node: Redis): Barriers {
    let barriers = this.barriers.get(node);
    if (!barriers) {
      // Twice the limit: a server that is only slow is not taken for one that never confirms.
      const waitMs = 2 * this.timeoutMs;
      const ask = async (redis: Redis): Promise<boolean> => {
        const key = this.servers.keyAt(node);
        return key !== undefined && (await prove(redis, this.level, key, waitMs));
      };
      barriers = new Barriers(node, ask, waitMs);
      this.barriers.set(node, barriers);
      node.once('end', () => {
        this.barriers.get(node)?.close();
        this.barriers.delete(node);
      });
    }
    return barriers;
  }
}
