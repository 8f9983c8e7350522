import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { Connections } from './connections.js';
import { answerParserError } from './parser-errors.js';

export interface ServerLimits {
  readonly maxConnections: number;
  /** How long a request may take to arrive, headers and body; and how long an answer may lie unread. */
  readonly requestTimeoutMs: number;
}

const LONGEST_HEADERS_MS = 10_000;
/** How long a connection may stay open without a request. */
const KEPT_ALIVE_MS = 72_000;

/** The HTTP server under the api: what one client can make it hold, and for how long, is bounded before any route is known. */
export function openServer(
  answer: RequestListener,
  { maxConnections, requestTimeoutMs }: ServerLimits,
): Server {
  const connections = new Connections(maxConnections, answer);
  // Node looks for late requests this often; one may be that much later.
  const lookEveryMs = Math.min(1_000, requestTimeoutMs / 10);
  const latestMs = requestTimeoutMs - lookEveryMs;
  const server = createServer(
    {
      requestTimeout: latestMs,
      // Node swaps the two when this is the longer one.
      headersTimeout: Math.min(LONGEST_HEADERS_MS, latestMs),
      connectionsCheckingInterval: lookEveryMs,
      keepAliveTimeout: KEPT_ALIVE_MS,
      // Checked where the refusal can be worded.
      requireHostHeader: false,
    },
    (request, response) => connections.touch(request.socket)?.take(request, response),
  );
  server.on('connection', (socket: Socket) => connections.add(socket));
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
