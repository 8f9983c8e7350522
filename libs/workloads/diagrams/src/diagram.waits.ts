import { LifecycleOptions } from '#lifecycle';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { EventEmitter, once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { isUnderWay, type DiagramView } from './diagram.js';
import { BackpressureError } from './diagrams.errors.js';
import { DiagramsOptions } from './diagrams.options.js';
import { DiagramsRepository } from './diagrams.repository.js';
import { DiagramsService } from './diagrams.service.js';

/** A message that is lost is made good so much later. */
const LOOK_AGAIN_MS = 1_000;
/** How many callers of one process wait at once. */
const MOST_WAITING = 200;

/** Waits until a diagram is drawn, for who wants it in one call. */
@Injectable()
export class DiagramWaits implements OnModuleDestroy {
  private readonly over = new EventEmitter().setMaxListeners(0);
  private readonly closing = new AbortController();
  private connection: Redis | Cluster | undefined;
  private isListening = false;
  private waiting = 0;

  constructor(
    private readonly options: DiagramsOptions,
    private readonly lifecycle: LifecycleOptions,
    private readonly diagrams: DiagramsRepository,
    private readonly service: DiagramsService,
  ) {}

  /** How many wait. */
  get size(): number {
    return this.waiting;
  }

  /** Before anything is asked for: a caller who could not wait is told so at once. */
  checkRoom(): void {
    if (this.closing.signal.aborted) throw new BackpressureError('This process ends.');
    if (this.waiting >= MOST_WAITING)
      throw new BackpressureError(`${MOST_WAITING} callers wait for pictures here, as many as may.`);
  }

  /**
   * Asks for a diagram, and answers once it is drawn or will not be; or as it is when the time is over, or the caller is. The
   * first to ask does not wait until this process listens: a store that is away is for the asking to say.
   */
  async untilOver(
    id: string,
    ask: () => Promise<DiagramView | undefined>,
    caller: AbortSignal,
  ): Promise<DiagramView | undefined> {
    this.checkRoom();
    const enough = AbortSignal.any([caller, this.closing.signal, AbortSignal.timeout(this.options.waitMs)]);
    this.waiting += 1;
    try {
      this.listen();
      for (let look = ask; ; look = () => this.service.view(id)) {
        const round = new AbortController();
        const next = this.next(id, AbortSignal.any([enough, round.signal]));
        try {
          const view = await look();
          if (!view || !isUnderWay(view)) return view;
          await next;
          if (enough.aborted) return view;
        } finally {
          round.abort();
        }
      }
    } finally {
      this.waiting -= 1;
    }
  }

  onModuleDestroy(): void {
    this.closing.abort();
    this.connection?.disconnect();
  }

  /** Never rejects: whoever waits looks again, or has had enough. */
  private next(id: string, signal: AbortSignal): Promise<unknown> {
    return Promise.race([
      once(this.over, id, { signal }),
      pause(LOOK_AGAIN_MS, undefined, { signal, ref: false }),
    ]).catch(() => undefined);
  }

  /** Begins to, once. While it cannot there are looks still. */
  private listen(): void {
    if (this.isListening) return;
    this.isListening = true;
    const connection = (this.connection ??= this.connect());
    connection.subscribe(this.diagrams.overChannel).catch(() => (this.isListening = false));
  }

  /** Its own: one that listens can do nothing else. It listens again by itself when it was lost. */
  private connect(): Redis | Cluster {
    const { redis } = this.lifecycle;
    const connection = redis.isCluster ? (redis as Cluster).duplicate() : (redis as Redis).duplicate();
    // Said by the shared connection already, which goes to the same store.
    connection.on('error', () => undefined);
    connection.on('message', (_channel: string, id: string) => this.over.emit(id));
    return connection;
  }
}
