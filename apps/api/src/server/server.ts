import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { Connections } from './connections.js';
import { answerParserError } from './parser-errors.js';
import { sliceInput } from './slices.js';

export interface ServerLimits {
  readonly maxConnections: number;
  /** Time limit for receiving a request, headers and body, and for a client to read an answer. */
  readonly requestTimeoutMs: number;
  /** Replaced by tests to count requests. */
  readonly IncomingMessage?: typeof IncomingMessage;
}

const LONGEST_HEADERS_MS = 10_000;
/** How long an idle connection stays open. */
const KEPT_ALIVE_MS = 72_000;

/** The HTTP server of the API. It bounds the memory and time that one client can use, before any route is known. */
export function openServer(
  answer: RequestListener,
  { maxConnections, requestTimeoutMs, ...classes }: ServerLimits,
): Server {
  const connections = new Connections(maxConnections, answer);
  // Node checks for late requests at this interval, so a request may be late by that much.
  const lookEveryMs = Math.min(1_000, requestTimeoutMs / 10);
  const latestMs = requestTimeoutMs - lookEveryMs;
  const take: RequestListener = (request, response) =>
    connections.touch(request.socket)?.take(request, response);
  const server = createServer(
    {
      requestTimeout: latestMs,
      // Node swaps both limits if this one is longer.
      headersTimeout: Math.min(LONGEST_HEADERS_MS, latestMs),
      connectionsCheckingInterval: lookEveryMs,
      keepAliveTimeout: KEPT_ALIVE_MS,
      // The admission checks refuse a missing Host header with a problem document.
      requireHostHeader: false,
      ...classes,
    },
    take,
  );
  // Headers are limited by size. With a limit on their number, Node drops the rest, such as a second Host header or a key.
  server.maxHeadersCount = 0;
  // Node would answer an Expect header itself, before any check.
  server.on('checkExpectation', take);
  server.on('connection', (socket: Socket) => {
    sliceInput(socket);
    connections.add(socket);
  });
  server.on('clientError', (error: Error, socket: Socket) => {
    if (connections.of(socket)?.canAnswerError) answerParserError(error, socket);
    socket.destroy(error);
  });
  // Fires when nothing was read or written. A slow answer is no reason to close the connection.
  server.setTimeout(requestTimeoutMs, (socket: Socket) => {
    if (connections.of(socket)?.waitsForClient ?? true) socket.destroy();
  });
  return server;
}
