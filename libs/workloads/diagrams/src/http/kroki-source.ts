import { ApiProblem } from '#http';
import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import { z } from 'zod';
import { MAX_SOURCE_BYTES } from './diagram-schemas.js';

const unpack = promisify(inflate);
const BASE64 = /^[\w+/-]+={0,2}$/;
const Json = z.object({ diagram_source: z.string() });

/**
 * Decodes a source from an address: deflated, in either base64 alphabet. Refuses data that would inflate
 * beyond the source limit.
 */
export async function decodeSource(encoded: string): Promise<string> {
  if (!BASE64.test(encoded)) throw wrong('The diagram in the address is not base64.');
  try {
    return utf8(await unpack(Buffer.from(encoded, 'base64url'), { maxOutputLength: MAX_SOURCE_BYTES }));
  } catch (error) {
    if (error instanceof ApiProblem) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw new ApiProblem(413, 'TOO_LARGE', `A source has ${MAX_SOURCE_BYTES} bytes at most.`);
    throw wrong('The diagram in the address cannot be unpacked: deflate it, then write it in base64url.');
  }
}

/** The body is the source, whatever its content type, unless that is JSON. */
export function readSource(body: unknown, contentType = ''): string {
  const text = utf8(Buffer.isBuffer(body) ? body : Buffer.alloc(0));
  return /^application\/json\b/i.test(contentType) ? readJson(text) : text;
}

function readJson(text: string): string {
  try {
    return Json.parse(JSON.parse(text)).diagram_source;
  } catch {
    throw wrong('A body of JSON has a text in "diagram_source".');
  }
}

function utf8(bytes: Buffer): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (text.trim() !== '') return text;
  } catch {
    throw wrong('The source is not UTF-8.');
  }
  throw wrong('There is no source.');
}

function wrong(detail: string): ApiProblem {
  return new ApiProblem(400, 'INVALID', detail);
}
