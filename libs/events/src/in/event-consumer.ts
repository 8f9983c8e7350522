import { meansUnavailable, StoreUnavailableError } from '#lifecycle';
import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { InvalidEventError, readEvent, type CloudEvent } from '../cloud-event.js';
import { Intake } from '../intake.js';
import { EventOptions, tell } from '../options.js';
import { InboundEventStream, type InboundEntry } from './inbound-event-stream.js';

/** After so many tries that failed by the event's own fault, or ours, it is given up. */
const MAX_TRIES = 5;
const FIRST_RETRY_MS = 200;
const STORE_AGAIN_MS = 1_000;
const LOOK_AROUND_MS = 5_000;
/** So many at most wait to be tried again; until some are done with, no new ones are read. */
const MAX_PUT_BY = 256;
const SAY_AGAIN_MS = 30_000;
/** How long what is in hand may take at the end. What is not done then is taken over by another. */
const LAST_MS = 2_000;

interface PutBy {
  readonly entry: InboundEntry;
  readonly dueAt: number;
  readonly counts: boolean;
}

/**
 * Takes the events of the stream, in as many processes as like to. An entry is acknowledged when its event was taken, so it may
 * be taken twice and never not at all. What fails is tried again, and given up after a few tries; a store that is away is
 * not the entry's fault and no try.
 */
@Injectable()
export class EventConsumer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly inHand = new Set<string>();
  private readonly putBy = new Map<string, PutBy>();
  private readonly stopping = new AbortController();
  private lookAroundAt = 0;
  private saidAt = -SAY_AGAIN_MS;
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
    await Promise.race([this.leave(), pause(LAST_MS, undefined, { ref: false })]);
  }

  private async consume(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        await this.lookAround();
        await this.tryAgain();
        const entries = await this.readNew();
        await Promise.all(entries.map((entry) => this.take(entry)));
      } catch (trouble) {
        if (!this.stopping.signal.aborted) await this.recover(trouble).catch(() => undefined);
      }
    }
  }

  private async leave(): Promise<void> {
    await this.done;
    await this.stream.tidy({ leaving: true }).catch(() => undefined);
  }

  /** Now and then: what others left lying, and what nobody needs any more. */
  private async lookAround(): Promise<void> {
    if (Date.now() < this.lookAroundAt) return;
    const left = await this.stream.takeOver();
    await this.stream.tidy();
    this.lookAroundAt = Date.now() + Math.min(LOOK_AROUND_MS, this.options.takeOverMs ?? LOOK_AROUND_MS);
    const ours = left.filter(({ id }) => !this.inHand.has(id) && !this.putBy.has(id));
    await Promise.all(ours.map((entry) => this.take(entry)));
  }

  private async tryAgain(): Promise<void> {
    const due = [...this.putBy.values()].filter(({ dueAt }) => dueAt <= Date.now());
    await Promise.all(
      due.map(async ({ entry, counts }) => {
        const isThere = await this.stream.takeAgain(entry.id, counts);
        this.putBy.delete(entry.id);
        if (isThere) await this.take(entry);
      }),
    );
  }

  private readNew(): Promise<InboundEntry[]> {
    const soonest = Math.min(this.lookAroundAt, ...[...this.putBy.values()].map(({ dueAt }) => dueAt));
    const waitMs = Math.max(1, soonest - Date.now());
    if (this.putBy.size < MAX_PUT_BY) return this.stream.read(waitMs);
    return pause(waitMs, [], { signal: this.stopping.signal });
  }

  private async take(entry: InboundEntry): Promise<void> {
    this.inHand.add(entry.id);
    try {
      await this.intake.take(readEntry(entry));
      await this.stream.acknowledge(entry.id);
    } catch (error) {
      await this.failed(entry, error).catch((storeError: unknown) => this.postpone(entry, storeError));
    } finally {
      this.inHand.delete(entry.id);
    }
  }

  private async failed(entry: InboundEntry, error: unknown): Promise<void> {
    if (error instanceof StoreUnavailableError || meansUnavailable(error)) return this.postpone(entry, error);
    const tries = await this.stream.tries(entry.id);
    if (tries < MAX_TRIES) {
      this.putBy.set(entry.id, {
        entry,
        dueAt: Date.now() + FIRST_RETRY_MS * 2 ** Math.max(0, tries - 1),
        counts: true,
      });
      return;
    }
    const why = (error as Error).message;
    await this.stream.bury(entry, eventText(entry) ?? '', why);
    tell(this.options, { event: 'event.dead', entry: entry.id, why });
  }

  /** For the store's sake, which is not the entry's fault. */
  private postpone(entry: InboundEntry, error: unknown): void {
    this.say(error);
    this.putBy.set(entry.id, { entry, dueAt: Date.now() + STORE_AGAIN_MS, counts: false });
  }

  private async recover(trouble: unknown): Promise<void> {
    try {
      if (isGroupGone(trouble)) return await this.stream.createGroup();
      this.say(trouble);
    } catch (second) {
      this.say(second);
    }
    await pause(STORE_AGAIN_MS, undefined, { signal: this.stopping.signal });
  }

  /** A store that is away fails many times in the same way. */
  private say(error: unknown): void {
    const now = performance.now();
    if (now - this.saidAt < SAY_AGAIN_MS) return;
    this.saidAt = now;
    tell(this.options, { event: 'events.trouble', why: (error as Error).message });
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

/** Where nothing else is there to be meant, the name of the field does not matter. */
function eventText({ fields }: InboundEntry): string | undefined {
  const at = fields.findIndex((name, i) => i % 2 === 0 && name === 'event');
  if (at < 0) return fields.length === 2 ? fields[1] : undefined;
  return fields[at + 1];
}

/** Also how a process begins that is the first: there is no stream, or no group yet. */
function isGroupGone(error: unknown): boolean {
  return /NOGROUP|no such key|stream key no longer exists|UNBLOCKED/i.test((error as Error).message);
}
