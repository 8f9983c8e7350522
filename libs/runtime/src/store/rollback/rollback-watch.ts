import { runScript, Script } from '#scripts';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Counter, type Registry } from 'prom-client';
import type { Log } from '../../log/log.js';
import type { StoreConnection } from '../connect.js';
import { keysOnMasters } from '../master-keys.js';

const EVERY_MS = 1_000;
const MARKERS_KEPT = 60;
const KEEP_MS = 7 * 86_400_000;
const CLOCK_SKEW_MS = 10_000;

const MARKER = new Script(readFileSync(new URL('marker.lua', import.meta.url), 'utf8'));

/**
 * Notices that the store took back what it had answered: a replica was promoted that lacked it, a snapshot was restored, a
 * server came up again without its log. Cancels of that time are undone then, and jobs may run again; it does not show by
 * itself. A Cluster's masters go back one by one, so each has markers of its own.
 */
export class RollbackWatch {
  private readonly rollbacks: Counter;
  private readonly timer: NodeJS.Timeout;
  private readonly runId = randomUUID().slice(0, 8);
  /** The newest marker that was seen, by key. */
  private readonly seen = new Map<string, string>();
  /** The markers that tell of a rollback, as far as this process knows them: one for each rollback. */
  private readonly known = new Set<string>();
  private isLooking = false;

  constructor(
    private readonly redis: StoreConnection,
    private readonly prefix: string,
    private readonly log: Log,
    registry: Registry,
  ) {
    this.rollbacks = new Counter({
      name: 'mooring_store_rollbacks_total',
      help: 'How often the store took back what it had answered.',
      registers: [registry],
    });
    this.timer = setInterval(() => void this.look(), EVERY_MS);
    this.timer.unref();
  }

  /** Never rejects: other components report an unavailable store. */
  async look(): Promise<void> {
    if (this.isLooking || this.redis.status !== 'ready') return;
    this.isLooking = true;
    const keys = [...keysOnMasters(this.redis, this.prefix, 'marker').values()];
    await Promise.allSettled(keys.map((key) => this.compare(key)));
    this.isLooking = false;
  }

  close(): void {
    clearInterval(this.timer);
  }

  private async compare(key: string): Promise<void> {
    const saw = this.seen.get(key) ?? '';
    const args = [saw, this.runId, EVERY_MS, MARKERS_KEPT, KEEP_MS, CLOCK_SKEW_MS, ...this.known];
    const answer = await runScript(this.redis, MARKER, [key], args);
    const [newest, keptAt, ...rollbacks] = answer as [string, string, ...string[]];
    this.seen.set(key, newest);
    for (const marker of rollbacks) this.known.add(marker);
    if (keptAt === '') return;
    this.rollbacks.inc();
    const sawAt = timeOf(Number(saw.split('|')[2]));
    this.log.error(
      { event: 'store.went-back', sawAt, keptUntil: timeOf(Number(keptAt)) },
      said(keptAt, sawAt),
    );
  }
}

function said(keptAt: string, sawAt: string | undefined): string {
  const lost =
    keptAt === '0'
      ? 'It is empty, or another one'
      : `What it answered after ${timeOf(Number(keptAt))} may be gone`;
  return (
    `The store went back in time. ${lost}; this process last saw it whole at ${sawAt}. Cancels of that time are undone and ` +
    'their jobs may run: docs/operating.md, "The store went back", says what to repeat.'
  );
}

function timeOf(ms: number): string | undefined {
  return ms > 0 ? new Date(ms).toISOString() : undefined;
}
