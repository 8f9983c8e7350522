import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many requests may wait behind the one that is being answered. */
const MOST_WAITING = 10;
/** And how many in all, over every connection: each holds its headers. */
const MOST_WAITING_IN_ALL = 1_000;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** What all connections of a server share. */
export interface Shared {
  readonly answer: RequestListener;
  waiting: number;
}

/**
 * One client's connection. Its requests are answered one at a time, in the order in which they came: a client that sends many
 * and reads nothing costs one answer. A file opened for an answer is closed when the connection ends, because Node tells only
 * the response whose turn it is.
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

  /** Nothing happens here until the client sends, or reads, some more. */
  get waitsForClient(): boolean {
    return !this.current?.request.complete || this.socket.writableNeedDrain;
  }

  /** Whether an error of the parser can be answered: nothing is under way, or what is under way is what it is about. */
  get canAnswerError(): boolean {
    if (!this.socket.writable) return false;
    return !this.current || (!this.current.request.complete && !this.current.response.headersSent);
  }

  private get mayWait(): boolean {
    return this.waiting.length < MOST_WAITING && this.shared.waiting < MOST_WAITING_IN_ALL;
  }

  private wait(exchange: Exchange): void {
    this.waiting.push(exchange);
    this.shared.waiting += 1;
  }

  private begin(exchange: Exchange): void {
    this.current = exchange;
    // Of a connection that ended too.
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
