import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of one connection that may wait behind the one being answered. */
const MAX_WAITING = 10;
/** Waiting requests over all connections. Each holds its headers in memory. */
const MAX_WAITING_IN_TOTAL = 1_000;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** State that all connections of a server share. */
export interface Shared {
  readonly answer: RequestListener;
  waiting: number;
}

/**
 * Answers the requests of one client one at a time and in order, so that a client that sends many requests and reads nothing
 * costs one answer. When a connection ends, Node notifies only the response it is writing; the files of later responses would
 * stay open.
 */
export class Connection {
  private current: Exchange | undefined;
  private readonly waiting: Exchange[] = [];

  constructor(
    private readonly socket: Socket,
    private readonly shared: Shared,
  ) {}

  take(request: IncomingMessage, response: ServerResponse): void {
    if (this.socket.destroyed) return;
    if (!this.current) this.begin({ request, response });
    else if (this.mayWait) this.wait({ request, response });
    else this.close();
  }

  close(): void {
    this.forgetWaiting();
    this.socket.destroy();
  }

  /** Whether progress depends on the client sending or reading more. */
  get waitsForClient(): boolean {
    return !this.current?.request.complete || this.socket.writableNeedDrain;
  }

  /** Whether a parser error can be answered: no request is in progress, or the error concerns that request. */
  get canAnswerError(): boolean {
    if (!this.socket.writable) return false;
    return !this.current || (!this.current.request.complete && !this.current.response.headersSent);
  }

  private get mayWait(): boolean {
    return this.waiting.length < MAX_WAITING && this.shared.waiting < MAX_WAITING_IN_TOTAL;
  }

  private wait(exchange: Exchange): void {
    this.waiting.push(exchange);
    this.shared.waiting += 1;
  }

  private begin(exchange: Exchange): void {
    this.current = exchange;
    // `close` also fires when the connection ends.
    exchange.response.once('close', () => this.startNext());
    this.shared.answer(exchange.request, exchange.response);
  }

  private startNext(): void {
    this.current = undefined;
    if (this.socket.destroyed) this.forgetWaiting();
    const next = this.waiting.shift();
    if (!next) return;
    this.shared.waiting -= 1;
    this.begin(next);
  }

  private forgetWaiting(): void {
    this.shared.waiting -= this.waiting.length;
    this.waiting.length = 0;
  }
}
