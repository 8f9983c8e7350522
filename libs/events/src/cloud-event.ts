import { MooringError } from '#core';

/** Longest accepted attribute. Attributes may become an owner's id and part of a receipt. */
const MAX_LENGTH = 512;
const TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
/** Characters that a URI-reference cannot contain. */
const NOT_IN_URI = /[\s"<>\\^`{|}]|\p{Control}/u;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** The part of a CloudEvent 1.0 that Mooring uses. */
export interface CloudEvent {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject?: string;
  /** Time of the event by the clock of its source, if the event has one. */
  readonly timeMs?: number;
  readonly data?: unknown;
}

/** Not a CloudEvent 1.0, or a field that the mapping needs is missing. Retrying the same event is pointless. */
export class InvalidEventError extends MooringError {
  readonly code = 'INVALID';

  constructor(readonly problems: readonly string[]) {
    super(`Invalid event: ${problems.join('; ')}.`);
  }
}

/** Parses an event in structured mode. The error lists every problem. */
export function readEvent(value: unknown): CloudEvent {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidEventError(['it is not a JSON object']);
  }
  const fields = new Map(Object.entries(value));
  const problems: string[] = [];
  const event = readAttributes((name) => fields.get(name), problems);
  const data = readData(fields, problems);
  if (problems.length > 0) throw new InvalidEventError(problems);
  return data === undefined ? event : { ...event, data };
}

/** Reads the attributes from any source. The result is unusable if problems were added to `problems`. */
export function readAttributes(get: (name: string) => unknown, problems: string[]): CloudEvent {
  const text = (name: string, isNeeded: boolean): string => {
    const value = get(name) ?? undefined;
    if (value === undefined && isNeeded) problems.push(`${name} is missing`);
    if (value === undefined) return '';
    const trouble = troubleWith(value);
    if (trouble) problems.push(`${name} ${trouble}`);
    return typeof value === 'string' ? value : '';
  };
  const version = text('specversion', true);
  if (version && version !== '1.0') problems.push(`specversion is not 1.0 but ${JSON.stringify(version)}`);
  const [id, source, type] = [text('id', true), text('source', true), text('type', true)];
  if (NOT_IN_URI.test(source)) problems.push('source is not a URI-reference');
  const [subject, time] = [text('subject', false), text('time', false)];
  const timeMs = time && TIME.test(time) ? Date.parse(time) : NaN;
  if (time && Number.isNaN(timeMs))
    problems.push('time is not a time of RFC 3339, as in 2026-01-31T12:00:00Z');
  return { id, source, type, ...(subject && { subject }), ...(time && { timeMs }) };
}

function troubleWith(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return 'is not a text of at least one character';
  if (value.length > MAX_LENGTH) return `has more than ${MAX_LENGTH} characters`;
  // Two such texts can encode to the same bytes.
  if (LONE_SURROGATE.test(value)) return 'holds half of a surrogate pair';
  return undefined;
}

function readData(fields: ReadonlyMap<string, unknown>, problems: string[]): unknown {
  const bytes = fields.get('data_base64') ?? undefined;
  if (bytes === undefined) return fields.get('data');
  if (fields.has('data')) problems.push('data and data_base64 are both present');
  if (typeof bytes !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(bytes)) {
    problems.push('data_base64 is not base64');
    return undefined;
  }
  return readBytes(Buffer.from(bytes, 'base64'), fields.get('datacontenttype'), problems);
}

/** Parses data if its content type says JSON. Other data is ignored. */
export function readBytes(bytes: Buffer, contentType: unknown, problems: string[]): unknown {
  if (bytes.length === 0 || !isJson(contentType)) return undefined;
  try {
    return JSON.parse(readText(bytes)) as unknown;
  } catch {
    problems.push('data is not valid JSON, although its content type is JSON');
    return undefined;
  }
}

/** Throws if the bytes are not UTF-8: replacement characters could turn two different owners into one. */
export function readText(bytes: Buffer): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

function isJson(contentType: unknown): boolean {
  return typeof contentType !== 'string' || /^[^;]*[/+]json\s*(;|$)/i.test(contentType);
}
