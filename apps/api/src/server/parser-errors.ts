import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { ApiProblem, describeError } from '#http';

const BAD_REQUEST = new ApiProblem(
  400,
  'INVALID',
  'The request is not valid HTTP/1.1. Correct the request line, the headers or the length of the body.',
);

const PROBLEMS: Readonly<Record<string, ApiProblem>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new ApiProblem(
    408,
    'REQUEST_TIMEOUT',
    'The request did not arrive completely in time. Send it again without pauses; REQUEST_TIMEOUT sets the limit.',
  ),
  HPE_HEADER_OVERFLOW: new ApiProblem(
    431,
    'REQUEST_HEADER_FIELDS_TOO_LARGE',
    'The headers are larger than 16 KiB. Send fewer or shorter ones.',
  ),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new ApiProblem(
    413,
    'TOO_LARGE',
    'The chunk extensions are larger than 16 KiB. Send the body without them.',
  ),
};

/** Answers a parser error on the raw socket, because no request exists yet. The caller closes the connection. */
export function answerParserError(error: NodeJS.ErrnoException, socket: Socket): void {
  const id = randomUUID();
  const { problem } = describeError(PROBLEMS[error.code ?? ''] ?? BAD_REQUEST, { id });
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${id}`,
    'connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
}
