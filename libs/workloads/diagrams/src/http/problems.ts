import { ApiProblem } from '#http';
import type { Flaw } from '../diagram.js';
import { MAX_SOURCE_BYTES } from './diagram-schemas.js';

/** The source is invalid, with line and column where known. */
export function isInvalid({ message, ...place }: Flaw): ApiProblem {
  return new ApiProblem(422, 'INVALID_DIAGRAM', message, { members: place });
}

/** The render was attempted and failed. */
export function hasFailed({ message, ...place }: Flaw): ApiProblem {
  return new ApiProblem(422, 'RENDER_FAILED', message, { members: place });
}

export function isGone(why: string): ApiProblem {
  return new ApiProblem(410, 'GONE', `${why} Request it again if you still need it.`);
}

export function noDiagram(): ApiProblem {
  return new ApiProblem(404, 'NOT_FOUND', 'There is no such diagram.');
}

export function checkSize(source: string): void {
  if (Buffer.byteLength(source) <= MAX_SOURCE_BYTES) return;
  throw new ApiProblem(413, 'TOO_LARGE', `A source has ${MAX_SOURCE_BYTES} bytes at most.`);
}
