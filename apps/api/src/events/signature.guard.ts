import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiProblem } from '../problem.js';
import { BATCH, contentMode, STRUCTURED } from './content-modes.js';
import { troubleWithSignature } from './signature.js';

/** What events are signed with: one secret, or two while they are changed. */
export abstract class EventSecrets {
  abstract readonly known: readonly Buffer[];
}

/** Lets an event in when it is signed with a secret of ours. */
@Injectable()
export class SignatureGuard implements CanActivate {
  constructor(private readonly secrets: EventSecrets) {}

  canActivate(context: ExecutionContext): boolean {
    const { headers, body } = context.switchToHttp().getRequest<FastifyRequest>();
    const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
    const trouble = troubleWithSignature(headers, bytes, this.secrets.known, Date.now());
    if (trouble) throw new ApiProblem(401, 'BAD_SIGNATURE', trouble);
    // A signature covers the body alone: with attributes in headers, a body that was signed once would cancel any owner.
    if (contentMode(headers, bytes) === 'binary') {
      const detail = `Signed events are sent as ${STRUCTURED} or ${BATCH}: a signature does not cover headers.`;
      throw new ApiProblem(415, 'UNSUPPORTED_MEDIA_TYPE', detail);
    }
    return true;
  }
}
