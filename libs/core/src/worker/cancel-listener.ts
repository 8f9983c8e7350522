import { createRedisBackend, type ConnectionOptions, type RedisQueueBackend } from 'bullmq';
import { defineScripts, runScript } from '../scripts/composed-scripts.js';
import { readJobRef } from '../scripts/job-ref.js';

const BLOCK_MS = 5_000;
/** How much longer a read may take. Then its connection is dead, and its other end has said nothing. */
const LATE_MS = 3_000;
const RETRY_MS = 1_000;

type Stop = (jobId: string) => void;

/**
 * Reads the stream in which cancels name the runs that have to stop. The workers of a process that share a connection and a prefix
 * share one listener. A reader that was away for a moment goes on where it was.
 */
export class CancelListener {
  private static readonly shared = new WeakMap<object, Map<string, CancelListener>>();
  private readonly stops = new Map<string, Set<Stop>>();
  private closed = false;

  static of(connection: ConnectionOptions, root: string): CancelListener {
    const byRoot = CancelListener.shared.get(connection) ?? new Map<string, CancelListener>();
    CancelListener.shared.set(connection, byRoot);
    let listener = byRoot.get(root);
    if (!listener) {
      listener = new CancelListener(
        createRedisBackend(root, { connection, prefix: root } as never, { blocking: true }),
        root,
        () => byRoot.delete(root),
      );
      byRoot.set(root, listener);
    }
    return listener;
  }

  private constructor(
    private readonly backend: RedisQueueBackend,
    private readonly root: string,
    private readonly forget: () => void,
  ) {
    // Lost messages are no error: the renewal of locks names the same runs.
    backend.on('error', () => undefined);
    void this.read();
  }

  listen(queue: string, stop: Stop): void {
    const stops = this.stops.get(queue) ?? new Set();
    this.stops.set(queue, stops.add(stop));
  }

  /** The last of the workers that leave closes the connection. */
  async leave(queue: string, stop: Stop): Promise<void> {
    const stops = this.stops.get(queue);
    stops?.delete(stop);
    if (stops?.size === 0) this.stops.delete(queue);
    if (this.stops.size > 0 || this.closed) return;
    this.closed = true;
    this.forget();
    await this.backend.close(true);
  }

  private async read(): Promise<void> {
    const key = `${this.root}~cancelled`;
    // An id from the start: what comes between two reads that find nothing is read by the second.
    let last: string | undefined;
    while (!this.closed) {
      try {
        const client = await this.backend.client;
        defineScripts(client, this.backend.redisVersion);
        last ??= (await runScript(client, 'announcedSince', [key])) as string;
        const timer = setTimeout(() => client.disconnect(true), BLOCK_MS + LATE_MS).unref();
        const reading = client
          .xread([{ key, id: last }], { BLOCK: BLOCK_MS })
          .finally(() => clearTimeout(timer));
        const entries = (await reading) as Entries;
        for (const [id, fields] of entries?.[0]?.[1] ?? []) {
          last = id;
          this.announce(fields[1] ?? '');
        }
      } catch {
        if (!this.closed) await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      }
    }
  }

  /** @param runs one run a line, written queue:id */
  private announce(runs: string): void {
    for (const run of runs.split('\n')) {
      const { queue, id } = readJobRef(run);
      this.stops.get(queue)?.forEach((stop) => stop(id));
    }
  }
}

type Entries = [key: string, entries: [id: string, fields: string[]][]][] | null;
