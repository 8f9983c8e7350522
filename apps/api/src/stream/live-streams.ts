import { OutboundEventStream } from '#events';
import { ApiProblem } from '#http';
import { Injectable } from '@nestjs/common';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { LiveStream } from './live-stream.js';
import { QueueChanges, QueueCounts } from './queue-changes.js';
import type { Topic } from './topics.js';

const MOST_STREAMS = 100;

export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
};

/** The clients of this process that hear of changes. */
@Injectable()
export class LiveStreams {
  private size = 0;

  constructor(
    private readonly events: OutboundEventStream,
    private readonly counts: QueueCounts,
  ) {}

  /** Does everything that may fail before the response starts. */
  async prepare(
    topics: ReadonlySet<Topic>,
    lastEventId: string | undefined,
  ): Promise<(out: ServerResponse, headers: OutgoingHttpHeaders, enough: AbortSignal) => void> {
    this.checkRoom();
    const isWhole = lastEventId === undefined || (await this.events.hasAllAfter(lastEventId));
    const from = lastEventId !== undefined && isWhole ? lastEventId : await this.events.newest();
    return (out, headers, enough) => {
      out.writeHead(200, { ...headers, ...STREAM_HEADERS });
      this.size += 1;
      const stream = new LiveStream(out, topics, this.events, new QueueChanges(this.counts), from, enough);
      void stream.run(isWhole).finally(() => (this.size -= 1));
    };
  }

  private checkRoom(): void {
    if (this.size < MOST_STREAMS) return;
    const why = `${MOST_STREAMS} clients follow this process already.`;
    throw new ApiProblem(503, 'BACKPRESSURE', `${why} Try again in a second.`, { retryAfterMs: 1_000 });
  }
}
