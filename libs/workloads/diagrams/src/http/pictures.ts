import { ArtifactReader } from '#nestjs';
import { isKnown } from '#http';
import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { pictureName, type DiagramView } from '../diagram.js';
import { headersOf } from './picture-headers.js';
import { isGone } from './problems.js';

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
