import { meansUnavailable } from '#nestjs';
import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { InvalidEventError, readEvent, type CloudEvent } from '../cloud-event.js';
import { Intake } from '../intake.js';
import { EventOptions, notify } from '../options.js';
import { InboundEventStream, type InboundEntry } from './inbound-event-stream.js';

/** Failures of an event before it becomes a dead letter. Store outages do not count. */
const MAX_TRIES = 5;
const FIRST_RETRY_MS = 200;
const STORE_RETRY_MS = 1_000;
const HOUSEKEEPING_MS = 5_000;
/** Entries that may wait for a retry. At the limit no new entries are read. */
const MAX_POSTPONED = 256;
const REPORT_EVERY_MS = 30_000;
/** Time for entries in progress at shutdown. Another process takes over the rest. */
const SHUTDOWN_MS = 2_000;

interface Postponed {
  readonly entry: InboundEntry;
  readonly dueAt: number;
  readonly countsAsTry: boolean;
}

/**
 * Processes the events of the stream, in any number of processes. An entry is acknowledged after its event was processed, so
 * delivery is at least once. A failed event is retried and becomes a dead letter after a few tries. A store outage does not
 * count as a try.
 */
@Injectable()
export class EventConsumer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly inProgress = new Set<string>();
  private readonly postponed = new Map<string, Postponed>();
  private readonly stopping = new AbortController();
  private housekeepingAt = 0;
  private reportedAt = -REPORT_EVERY_MS;
  private done: Promise<void> | undefined;

  constructor(
    private readonly stream: InboundEventStream,
    private readonly intake: Intake,
    private readonly options: EventOptions,
  ) {}

  onApplicationBootstrap(): void {
    this.done = this.consume();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    this.stream.stopReading();
    await Promise.race([this.leave(), pause(SHUTDOWN_MS, undefined, { ref: false })]);
  }

  private async consume(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        await this.doHousekeeping();
        await this.retryDue();
        const entries = await this.readNew();
        await Promise.all(entries.map((entry) => this.take(entry)));
      } catch (error) {
        if (!this.stopping.signal.aborted) await this.recover(error).catch(() => undefined);
      }
    }
  }

  private async leave(): Promise<void> {
    await this.done;
    await this.stream.tidy({ leaving: true }).catch(() => undefined);
  }

  /** Takes over idle entries and trims the stream, at intervals. */
  private async doHousekeeping(): Promise<void> {
    if (Date.now() < this.housekeepingAt) return;
    const idle = await this.stream.takeOver();
    await this.stream.tidy();
    this.housekeepingAt = Date.now() + Math.min(HOUSEKEEPING_MS, this.options.takeOverMs ?? HOUSEKEEPING_MS);
    const ours = idle.filter(({ id }) => !this.inProgress.has(id) && !this.postponed.has(id));
    await Promise.all(ours.map((entry) => this.take(entry)));
  }

  private async retryDue(): Promise<void> {
    const due = [...this.postponed.values()].filter(({ dueAt }) => dueAt <= Date.now());
    await Promise.all(
      due.map(async ({ entry, countsAsTry }) => {
        const exists = await this.stream.takeAgain(entry.id, countsAsTry);
        this.postponed.delete(entry.id);
        if (exists) await this.take(entry);
      }),
    );
  }

  private readNew(): Promise<InboundEntry[]> {
    const nextAt = Math.min(this.housekeepingAt, ...[...this.postponed.values()].map(({ dueAt }) => dueAt));
    const waitMs = Math.max(1, nextAt - Date.now());
    if (this.postponed.size < MAX_POSTPONED) return this.stream.read(waitMs);
    return pause(waitMs, [], { signal: this.stopping.signal });
  }

  private async take(entry: InboundEntry): Promise<void> {
    this.inProgress.add(entry.id);
    try {
      await this.intake.take(readEntry(entry));
      await this.stream.acknowledge(entry.id);
    } catch (error) {
      await this.handleFailure(entry, error).catch((storeError: unknown) => this.postpone(entry, storeError));
    } finally {
      this.inProgress.delete(entry.id);
    }
  }

  private async handleFailure(entry: InboundEntry, error: unknown): Promise<void> {
    if (meansUnavailable(error)) return this.postpone(entry, error);
    const tries = await this.stream.tries(entry.id);
    if (tries < MAX_TRIES) {
      this.postponed.set(entry.id, {
        entry,
        dueAt: Date.now() + FIRST_RETRY_MS * 2 ** Math.max(0, tries - 1),
        countsAsTry: true,
      });
      return;
    }
    const why = (error as Error).message;
    await this.stream.deadLetter(entry, eventText(entry) ?? '', why);
    notify(this.options, { event: 'event.dead', entry: entry.id, why });
  }

  /** Retries the entry later without counting a try, because the store is unavailable. */
  private postpone(entry: InboundEntry, error: unknown): void {
    this.report(error);
    this.postponed.set(entry.id, { entry, dueAt: Date.now() + STORE_RETRY_MS, countsAsTry: false });
  }

  private async recover(error: unknown): Promise<void> {
    try {
      if (isGroupMissing(error)) return await this.stream.createGroup();
      this.report(error);
    } catch (second) {
      this.report(second);
    }
    await pause(STORE_RETRY_MS, undefined, { signal: this.stopping.signal });
  }

  /** Limited to one report per interval, because an outage fails every call in the same way. */
  private report(error: unknown): void {
    const now = performance.now();
    if (now - this.reportedAt < REPORT_EVERY_MS) return;
    this.reportedAt = now;
    notify(this.options, { event: 'events.trouble', why: (error as Error).message });
  }
}

function readEntry(entry: InboundEntry): CloudEvent {
  const text = eventText(entry);
  if (text === undefined) throw new InvalidEventError(['the entry has several fields, and none is "event"']);
  try {
    return readEvent(JSON.parse(text));
  } catch (error) {
    throw error instanceof SyntaxError ? new InvalidEventError(['it is not JSON']) : error;
  }
}

/** The text of the field `event`, or of the only field whatever its name. */
function eventText({ fields }: InboundEntry): string | undefined {
  const at = fields.findIndex((name, i) => i % 2 === 0 && name === 'event');
  if (at < 0) return fields.length === 2 ? fields[1] : undefined;
  return fields[at + 1];
}

/** Also true on the first start, before the stream and the group exist. */
function isGroupMissing(error: unknown): boolean {
  return /NOGROUP|no such key|stream key no longer exists|UNBLOCKED/i.test((error as Error).message);
}
