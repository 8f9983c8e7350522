import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiProblem, type CalledRequest } from '#http';
import { BATCH, contentMode, STRUCTURED } from './content-modes.js';
import { troubleWithSignature } from './signature.js';

/** Secrets for event signatures: one, or two during a rotation. */
export abstract class EventSecrets {
  abstract readonly known: readonly Buffer[];
}

/** Admits an event that is signed with a known secret. */
@Injectable()
export class SignatureGuard implements CanActivate {
  constructor(private readonly secrets: EventSecrets) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest & CalledRequest>();
    const { headers, body } = request;
    const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
    const trouble = troubleWithSignature(headers, bytes, this.secrets.known, Date.now());
    if (trouble) throw new ApiProblem(401, 'BAD_SIGNATURE', trouble);
    // A signature covers only the body. With attributes in headers, one signed body could cancel any owner.
    if (contentMode(headers, bytes) === 'binary') {
      const detail = `Send signed events as ${STRUCTURED} or ${BATCH}: a signature does not cover headers.`;
      throw new ApiProblem(415, 'UNSUPPORTED_MEDIA_TYPE', detail);
    }
    // The audit log names it so.
    request.caller = 'signature';
    return true;
  }
}
