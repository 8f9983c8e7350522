import type { OutboundEventStream } from '#events';
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { QueueChanges } from './queue-changes.js';
import { eventsOfTopics, type StreamEvent, type Topic } from './topics.js';

const LOOK_EVERY_MS = 250;
/** A proxy closes a connection that is silent for longer. */
const BEAT_EVERY_MS = 10_000;
/** Reconnect delay sent to the client. */
const RETRY_MS = 1_000;
const PAGE = 500;

/** What one client is sent. A look that fails is repeated: nothing is skipped. */
export class LiveStream {
  private writtenAt = 0;

  constructor(
    private readonly out: ServerResponse,
    private readonly topics: ReadonlySet<Topic>,
    private readonly events: OutboundEventStream,
    private readonly queues: QueueChanges,
    private last: string,
    /** Aborts when the client leaves or the process ends. */
    private readonly enough: AbortSignal,
  ) {}

  /** @param isWhole false if events were lost between the client's last one and this stream */
  async run(isWhole: boolean): Promise<void> {
    this.write(`retry: ${RETRY_MS}\n\n`);
    this.send({ id: this.last, name: isWhole ? 'begin' : 'gap', data: '{}' });
    while (!this.enough.aborted) {
      const hasMore = await this.look().catch(() => false);
      await this.untilRead();
      if (!hasMore) await pause(LOOK_EVERY_MS, undefined, { signal: this.enough }).catch(() => undefined);
    }
    this.out.end();
  }

  private async look(): Promise<boolean> {
    if (performance.now() - this.writtenAt > BEAT_EVERY_MS) this.write(':\n\n');
    if (this.topics.has('queues')) await this.lookAtQueues();
    if (this.topics.size === 1 && this.topics.has('queues')) return false;
    const entries = await this.events.readAfter(this.last, PAGE);
    for (const event of eventsOfTopics(entries, this.topics)) this.send(event);
    this.last = entries.at(-1)?.id ?? this.last;
    return entries.length === PAGE;
  }

  private async lookAtQueues(): Promise<void> {
    const queues = await this.queues.next();
    if (queues.length > 0) this.send({ name: 'queues', data: JSON.stringify({ queues }) });
  }

  private send({ id, name, data }: StreamEvent): void {
    this.write(`${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${data}\n\n`);
  }

  private write(text: string): void {
    if (this.enough.aborted) return;
    this.writtenAt = performance.now();
    this.out.write(text);
  }

  /** A client that reads slowly is sent less often, and later gets a summary. */
  private async untilRead(): Promise<void> {
    if (!this.out.writableNeedDrain || this.enough.aborted) return;
    await new Promise<void>((resolve) => {
      this.out.once('drain', resolve);
      this.enough.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}
