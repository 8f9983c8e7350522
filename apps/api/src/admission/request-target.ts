import type { FastifyRequest } from 'fastify';
import { ApiProblem } from '#http';

const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/** Path of a request target, also in absolute form (`GET http://host/path`). */
export function pathOf(target: string): string {
  const path = target.replace(ABSOLUTE, '');
  return path === '' || path.startsWith('?') ? `/${path}` : path;
}

/** Host of an absolute request target; undefined if the target is a path. */
function hostOf(target: string): string | undefined {
  return ABSOLUTE.exec(target)?.[1];
}

/** Refuses a request with two hosts or none: a proxy may have used another host than this API would. */
export function refuseUnclearHost(request: FastifyRequest): ApiProblem | undefined {
  const trouble = troubleWithHost(request);
  return trouble === undefined ? undefined : new ApiProblem(400, 'INVALID', trouble);
}

function troubleWithHost({ raw, originalUrl }: FastifyRequest): string | undefined {
  const names = raw.rawHeaders.filter((_, i) => i % 2 === 0);
  const hosts = names.filter((name) => name.toLowerCase() === 'host').length;
  if (hosts > 1) return 'The request has more than one Host header. Send one.';
  if (hosts === 0 && raw.httpVersion === '1.1') return 'The request has no Host header. Send one.';
  const named = hostOf(originalUrl);
  if (named === undefined || named.toLowerCase() === raw.headers.host?.toLowerCase()) return undefined;
  return 'The request target names another host than the Host header. Name the same in both.';
}
