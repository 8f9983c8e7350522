import { ArtifactReader } from '#nestjs';
import { isKnown } from '#http';
import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { pictureName, type DiagramView } from '../diagram.js';
import { CONTENT_TYPES } from '../render/types.js';
import { isGone } from './problems.js';

const LONGEST_HEADER = 1_000;

/**
 * Pictures hold content of other people under our address. They were sanitized when drawn; opened directly
 * they may run and load nothing, and other pages may embed them. Clients must revalidate each time.
 */
const POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  'font-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  'sandbox',
].join('; ');

/** Sends the bytes of a drawn diagram. */
@Injectable()
export class Pictures {
  constructor(private readonly artifacts: ArtifactReader) {}

  async send(view: DiagramView, known: string | undefined, reply: FastifyReply): Promise<void> {
    const headers = headersOf(view);
    if (isKnown(known, view.sha256!)) return void reply.headers(headers).status(304).send();
    const bytes = await this.artifacts.open(view.job!, pictureName(view.output));
    // Removed between the two reads.
    if (!bytes) throw isGone('The picture is kept no more.');
    void reply.headers(headers).header('content-length', view.bytes!).send(bytes);
  }
}

function headersOf({ output, shortlink, sha256, renderer, warnings }: DiagramView): Record<string, string> {
  return {
    'content-type': CONTENT_TYPES[output],
    'content-security-policy': POLICY,
    'content-disposition': `inline; filename="diagram-${shortlink.slice(0, 8)}.${output}"`,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'cross-origin',
    'cache-control': 'no-cache',
    etag: `"${sha256}"`,
    ...(renderer !== null && { 'mooring-renderer': renderer }),
    ...(warnings.length > 0 && { 'mooring-warnings': headerOf(warnings) }),
  };
}

/** Restricted to header characters; the diagram's record has all warnings in full. */
function headerOf(warnings: readonly string[]): string {
  const text = warnings.join('; ').replace(/[^ -~]+/g, (other) => encodeURI(Buffer.from(other).toString()));
  return text.slice(0, LONGEST_HEADER);
}
