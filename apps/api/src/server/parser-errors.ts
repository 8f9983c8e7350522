import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
}

const BAD_REQUEST: Refusal = {
  status: 400,
  code: 'INVALID',
  detail: 'This is not HTTP/1.1 as the server reads it.',
};

const REFUSALS: Readonly<Record<string, Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'REQUEST_TIMEOUT',
    detail: 'The request did not arrive whole in time.',
  },
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'REQUEST_HEADER_FIELDS_TOO_LARGE',
    detail: 'The headers are larger than 16 KiB.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    code: 'TOO_LARGE',
    detail: 'The chunk extensions are larger than 16 KiB.',
  },
};

/** Answers what the parser refused, in the form of RFC 9457. There is no request yet; the caller closes the connection. */
export function answerParserError(error: NodeJS.ErrnoException, socket: Socket): void {
  const { status, code, detail } = REFUSALS[error.code ?? ''] ?? BAD_REQUEST;
  const requestId = randomUUID();
  const title = STATUS_CODES[status];
  const body = JSON.stringify({ type: 'about:blank', title, status, code, detail, requestId });
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
}
