import { openSubscriber, WorkloadError, WorkloadStore } from '#workload-kit';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { EventEmitter, once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { isUnderWay, type DiagramView } from './diagram.js';
import { DiagramsOptions } from './diagrams-options.js';
import { DiagramRepository } from './diagram-repository.js';
import { DiagramsService } from './diagrams.service.js';

/** Poll interval, which makes up for a lost message. */
const LOOK_AGAIN_MS = 1_000;
/** Limit on waiting callers per process. */
const MOST_WAITING = 200;

/** Too many callers wait for pictures in this process. A later request may find the picture drawn. */
export class BackpressureError extends WorkloadError {
  readonly retryAfterMs = 1_000;

  constructor(why: string) {
    super(503, 'BACKPRESSURE', `${why} Try again in 1 s.`);
  }
}

/** Waits until a diagram is drawn, for callers that request and fetch it in one call. */
@Injectable()
export class DiagramWaiter implements OnModuleDestroy {
  private readonly over = new EventEmitter().setMaxListeners(0);
  private readonly closing = new AbortController();
  private connection: Redis | undefined;
  private isListening = false;
  private waiting = 0;

  constructor(
    private readonly options: DiagramsOptions,
    private readonly store: WorkloadStore,
    private readonly diagrams: DiagramRepository,
    private readonly service: DiagramsService,
  ) {}

  /** Number of waiting callers. */
  get size(): number {
    return this.waiting;
  }

  /** Called before anything is requested, so that a caller that could not wait is refused at once. */
  checkRoom(): void {
    if (this.closing.signal.aborted) throw new BackpressureError('This process ends.');
    if (this.waiting >= MOST_WAITING)
      throw new BackpressureError(`${MOST_WAITING} callers wait for pictures here, as many as may.`);
  }

  /**
   * Requests a diagram and returns once it is over, or with its current status when the time is over or the
   * caller disconnects. The first request does not wait for the subscription, so that a store failure is
   * reported by the request itself.
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

  /** Never rejects: the caller reads the status again or stops waiting. */
  private next(id: string, signal: AbortSignal): Promise<unknown> {
    return Promise.race([
      once(this.over, id, { signal }),
      pause(LOOK_AGAIN_MS, undefined, { signal, ref: false }),
    ]).catch(() => undefined);
  }

  /** Subscribes once. Until the subscription works, callers poll. */
  private listen(): void {
    if (this.isListening) return;
    this.isListening = true;
    this.connection ??= openSubscriber(this.store.redis).on('message', (_channel: string, id: string) => {
      this.over.emit(id);
    });
    this.connection.subscribe(this.diagrams.overChannel).catch(() => (this.isListening = false));
  }
}
