import { QueueReader, type QueueView } from '#nestjs';
import { Injectable } from '@nestjs/common';

const READ_EVERY_MS = 1_000;

/** The counts of all queues, read at most once a second for all clients together. */
@Injectable()
export class QueueCounts {
  private read: Promise<QueueView[]> | undefined;
  private readAt = -Infinity;

  constructor(private readonly reader: QueueReader) {}

  now(): Promise<QueueView[]> {
    const now = performance.now();
    if (!this.read || now - this.readAt >= READ_EVERY_MS) {
      this.readAt = now;
      this.read = this.reader.read();
      this.read.catch(() => (this.read = undefined));
    }
    return this.read;
  }
}

/** What one client has not been sent of the queues. */
export class QueueChanges {
  private readonly sent = new Map<string, string>();

  constructor(private readonly counts: QueueCounts) {}

  async next(): Promise<QueueView[]> {
    const queues = await this.counts.now();
    return queues.filter((queue) => this.isNew(queue));
  }

  /** The age of the oldest job changes all the time, so it alone is no news. */
  private isNew({ queue, counts, paused }: QueueView): boolean {
    const text = JSON.stringify([counts, paused]);
    if (this.sent.get(queue) === text) return false;
    this.sent.set(queue, text);
    return true;
  }
}
