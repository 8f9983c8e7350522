import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { Connections } from './connections.js';
import { answerParserError } from './parser-errors.js';
import { sliceInput } from './slices.js';

export interface ServerLimits {
  readonly maxConnections: number;
  /** How long a request may take to arrive, headers and body; and how long an answer may lie unread. */
  readonly requestTimeoutMs: number;
  /** For tests: the class of requests. */
  readonly IncomingMessage?: typeof IncomingMessage;
}

const LONGEST_HEADERS_MS = 10_000;
/** How long a connection may stay open without a request. */
const KEPT_ALIVE_MS = 72_000;

/** The HTTP server under the api: what one client can make it hold, and for how long, is bounded before any route is known. */
export function openServer(
  answer: RequestListener,
  { maxConnections, requestTimeoutMs, ...classes }: ServerLimits,
): Server {
  const connections = new Connections(maxConnections, answer);
  // Node looks for late requests this often; one may be that much later.
  const lookEveryMs = Math.min(1_000, requestTimeoutMs / 10);
  const latestMs = requestTimeoutMs - lookEveryMs;
  const take: RequestListener = (request, response) =>
    connections.touch(request.socket)?.take(request, response);
  const server = createServer(
    {
      requestTimeout: latestMs,
      // Node swaps the two when this is the longer one.
      headersTimeout: Math.min(LONGEST_HEADERS_MS, latestMs),
      connectionsCheckingInterval: lookEveryMs,
      keepAliveTimeout: KEPT_ALIVE_MS,
      // Checked where the refusal can be worded.
      requireHostHeader: false,
      ...classes,
    },
    take,
  );
  // Headers are bounded by their bytes. With a bound on their number Node leaves out those behind it: a second Host, or a key.
  server.maxHeadersCount = 0;
  // Whatever a client expects, its request is one like any other; Node would answer it before anything is checked.
  server.on('checkExpectation', take);
  server.on('connection', (socket: Socket) => {
    sliceInput(socket);
    connections.add(socket);
  });
  server.on('clientError', (error: Error, socket: Socket) => {
    if (connections.of(socket)?.canAnswerError) answerParserError(error, socket);
    socket.destroy(error);
  });
  // Nothing was read or written for so long. An answer that is still being made is no reason to end it.
  server.setTimeout(requestTimeoutMs, (socket: Socket) => {
    if (connections.of(socket)?.waitsForClient ?? true) socket.destroy();
  });
  return server;
}
