import type { Redis } from 'ioredis';
import { within } from '../../time/within.js';
import type { StoreConnection } from '../connect.js';
import { masters } from '../info.js';
import { keysOnMasters } from '../master-keys.js';
import { Barriers } from './barriers.js';
import { hasReplica, prove, whyNever, type DurabilityLevel } from './proof.js';
import { Sessions, type Session } from './sessions.js';

/** How long a caller waits once it is known that too few hold it: long enough to notice that they do again. */
const FAILING_MS = 50;

/**
 * Says of writes whether a replica, or the disk, holds them, after a time limit that it does not. On a Cluster every master
 * has to: what a call writes is spread over them.
 */
export class StoreDurability {
  private readonly sessions = new Sessions();
  private readonly barriers = new Map<Redis, Barriers>();

  constructor(
    private readonly redis: StoreConnection,
    private readonly prefix: string,
    readonly level: DurabilityLevel,
    private readonly timeoutMs: number,
  ) {}

  /** Writes over the connection that this was given, and waits for the replica or the disk to hold it. */
  async hold<T>(write: () => Promise<T>): Promise<{ readonly value: T; readonly isHeld: boolean }> {
    // Asked, and not awaited: over each connection the answer comes before that of the write.
    const asked = this.currentSessions();
    // Of a write that fails nothing is said but that.
    asked.catch(() => undefined);
    const value = await write();
    const isHeld = await within(
      this.timeoutMs,
      asked.then((sessions) => this.areHeld(sessions)),
    ).catch(() => false);
    return { value, isHeld: isHeld ?? false };
  }

  /** Why this store can never say that the level is reached; nothing when it can. */
  async whyNever(): Promise<string | undefined> {
    const reasons = await Promise.all(masters(this.redis).map((node) => whyNever(node, this.level)));
    return reasons.find((reason) => reason !== undefined);
  }

  /** Whether a server has no replica now, so that every answer says that none holds it. */
  async lacksReplica(): Promise<boolean> {
    if (this.level !== 'replica') return false;
    return (await Promise.all(masters(this.redis).map(hasReplica))).includes(false);
  }

  close(): void {
    for (const barriers of this.barriers.values()) barriers.close();
  }

  private async currentSessions(): Promise<ReadonlyMap<Redis, Session>> {
    const nodes = masters(this.redis);
    return new Map(
      await Promise.all(nodes.map(async (node) => [node, await this.sessions.of(node)] as const)),
    );
  }

  private async areHeld(sessions: ReadonlyMap<Redis, Session>): Promise<boolean> {
    const held = await Promise.all([...sessions].map(([node, session]) => this.isHeld(node, session)));
    const isSame = masters(this.redis).every((node) => sessions.get(node)?.isOver === false);
    return isSame && held.length > 0 && !held.includes(false);
  }

  private async isHeld(node: Redis, { runId }: Session): Promise<boolean> {
    const barriers = this.barriersAt(node);
    const joined = barriers.join();
    const barrier = await (barriers.isFailing ? within(FAILING_MS, joined) : joined);
    return barrier?.isHeld === true && barrier.runId === runId;
  }

  private barriersAt(node: Redis): Barriers {
    let barriers = this.barriers.get(node);
    if (!barriers) {
      // Twice the limit: a server that is only slow is not taken for one that never says so.
      const waitMs = 2 * this.timeoutMs;
      const ask = async (redis: Redis): Promise<boolean> => {
        const key = keysOnMasters(this.redis, this.prefix, 'barrier').get(node);
        return key !== undefined && (await prove(redis, this.level, key, waitMs));
      };
      barriers = new Barriers(node, ask, waitMs);
      this.barriers.set(node, barriers);
      node.once('end', () => {
        barriers!.close();
        this.barriers.delete(node);
      });
    }
    return barriers;
  }
}
