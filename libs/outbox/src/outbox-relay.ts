import { InvalidJobError } from '#core';
import { durationMs } from '#core/parts';
import { setTimeout as pause } from 'node:timers/promises';
import type { Pool } from 'pg';
import { OutboxRows } from './outbox-rows.js';
import { RelayStep } from './relay-step.js';
import type { OutboxTarget } from './row.js';
import { notificationOf, type SchemaOptions } from './schema.js';
import { WakeUps } from './wake-ups.js';

const PURGE_EVERY_MS = 60_000;
const AFTER_TROUBLE_MS = 1_000;
const STOPS_WITHIN_MS = 5_000;

export interface RelayOptions extends SchemaOptions {
  /** How often rows are looked for if no notification comes. Default 1 s. */
  readonly pollEvery?: number | string | undefined;
  /** Most rows in one transaction. Default 200. */
  readonly batch?: number | undefined;
  /** How long rows that were relayed are kept. Default 1 h. */
  readonly keepDone?: number | string | undefined;
  /** How long refused rows are kept. Default 30 d. */
  readonly keepRefused?: number | string | undefined;
  /** Hears what failed. The relay goes on. */
  readonly onError?: ((error: Error) => void) | undefined;
}

/** Brings committed rows to the store. Any number of relays may run. */
export class OutboxRelay {
  private readonly rows: OutboxRows;
  private readonly step: RelayStep;
  private readonly wakeUps: WakeUps;
  private readonly settings: ReturnType<typeof read>;
  private running: Promise<void> | undefined;
  private readonly stopping = new AbortController();
  private purgeAt = 0;

  /** @param pool at least two connections: one listens */
  constructor(
    pool: Pool,
    private readonly target: OutboxTarget,
    options: RelayOptions = {},
  ) {
    if ((pool.options.max ?? 10) < 2)
      throw new InvalidJobError('A relay needs a pool of at least two connections.');
    this.settings = read(options);
    this.rows = new OutboxRows(pool, options);
    this.step = new RelayStep(target);
    this.wakeUps = new WakeUps(pool, notificationOf(options.schema));
  }

  start(): void {
    this.running ??= this.run();
  }

  /** Waits for the rows under way, for a time. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.wakeUps.wake();
    await Promise.race([this.running, pause(STOPS_WITHIN_MS, undefined, { ref: false })]);
    this.wakeUps.close();
  }

  /** Answers how many rows it found. While the store is away it claims none. */
  async relayOnce(): Promise<number> {
    const before = await this.target.now();
    return this.rows.relay(this.settings.batch, (claim) => this.step.apply(claim, before));
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        // A row may have waited for one of those that are done now.
        if ((await this.relayOnce()) > 0) continue;
        await this.purge();
        if (!signal.aborted) await this.wakeUps.wait(this.settings.pollMs);
      } catch (error) {
        this.settings.onError(error as Error);
        await pause(AFTER_TROUBLE_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  private async purge(): Promise<void> {
    if (Date.now() < this.purgeAt) return;
    const { keepDoneMs, keepRefusedMs } = this.settings;
    const purged =
      (await this.rows.purge('done', keepDoneMs)) + (await this.rows.purge('refused', keepRefusedMs));
    if (purged === 0) this.purgeAt = Date.now() + PURGE_EVERY_MS;
    else this.wakeUps.wake();
  }
}

function read({
  pollEvery = '1s',
  batch = 200,
  keepDone = '1h',
  keepRefused = '30d',
  onError = (error) => console.error('The relay of the outbox:', error),
}: RelayOptions) {
  if (!Number.isInteger(batch) || batch < 1 || batch > 1_000)
    throw new InvalidJobError('batch is a whole number from 1 to 1000.');
  return {
    pollMs: durationMs('pollEvery', pollEvery),
    batch,
    keepDoneMs: durationMs('keepDone', keepDone),
    keepRefusedMs: durationMs('keepRefused', keepRefused),
    onError,
  };
}
