import { InvalidEventError, readAttributes, readBytes, readText, type CloudEvent } from '#events';
import type { IncomingHttpHeaders } from 'node:http';
import { ApiProblem } from '#http';

export const STRUCTURED = 'application/cloudevents+json';
export const BATCH = 'application/cloudevents-batch+json';
const MAX_BATCH = 1_000;

/** Content modes of the CloudEvents HTTP binding. */
export type ContentMode = 'structured' | 'batch' | 'binary';

export function contentMode(headers: IncomingHttpHeaders, body: Buffer): ContentMode {
  const type = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  if (type === STRUCTURED) return 'structured';
  if (type === BATCH) return 'batch';
  if (type === 'application/json' && !hasAttributes(headers)) return modeOfJson(body);
  if (!type.startsWith('application/cloudevents')) return 'binary';
  throw new ApiProblem(415, 'UNSUPPORTED_MEDIA_TYPE', `Send events as ${STRUCTURED} or ${BATCH}.`);
}

/** Many senders declare plain JSON. With ce- headers the body is data, whatever it contains. */
function modeOfJson(body: Buffer): ContentMode {
  let value: unknown;
  try {
    value = readJson(body);
  } catch {
    return 'binary';
  }
  if (Array.isArray(value)) return value.some(looksLikeEvent) ? 'batch' : 'binary';
  return looksLikeEvent(value) ? 'structured' : 'binary';
}

function looksLikeEvent(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'specversion');
}

function hasAttributes(headers: IncomingHttpHeaders): boolean {
  return Object.keys(headers).some((name) => name.startsWith('ce-'));
}

export function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(readText(body)) as unknown;
  } catch {
    throw new InvalidEventError(['the body is not JSON in UTF-8']);
  }
}

/** Returns the items unvalidated, so that an invalid item does not refuse the others. */
export function readBatch(body: Buffer): unknown[] {
  const items = readJson(body);
  if (!Array.isArray(items)) throw new InvalidEventError(['a batch is a JSON array of events']);
  if (items.length > MAX_BATCH) throw new InvalidEventError([`a batch has at most ${MAX_BATCH} events`]);
  return items;
}

export function readBinary(headers: IncomingHttpHeaders, body: Buffer): CloudEvent {
  const problems: string[] = [];
  const event = readAttributes((name) => decode(name, headers[`ce-${name}`], problems), problems);
  const data = readBytes(body, headers['content-type'], problems);
  if (!hasAttributes(headers)) {
    problems.push(`send it as ${STRUCTURED}, or its attributes in headers, as in ce-id`);
  }
  if (problems.length > 0) throw new InvalidEventError(problems);
  return data === undefined ? event : { ...event, data };
}

/**
 * Decodes a header value. Non-ASCII text arrives as percent-encoded or raw UTF-8 bytes, and Node reads each raw byte as one
 * character. Older senders add double quotes. A % that begins no byte is literal.
 */
function decode(name: string, value: string | string[] | undefined, problems: string[]): unknown {
  if (typeof value !== 'string') return value;
  const quoted = /^"((?:[^"\\]|\\.)*)"$/.exec(value)?.[1];
  const text = quoted === undefined ? value : quoted.replaceAll(/\\(.)/g, '$1');
  try {
    return readText(Buffer.from(text, 'latin1')).replaceAll(/(?:%[0-9a-f]{2})+/gi, decodeURIComponent);
  } catch {
    problems.push(`ce-${name} has bytes that are not UTF-8`);
    return text;
  }
}
