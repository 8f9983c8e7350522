import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { sendProblem } from '../error.filter.js';
import { ApiProblem } from '../problem.js';

const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/** The path of a target that names its host too, as `GET http://host/path`: such a request means the same as one without. */
export function pathOf(target: string): string {
  const path = target.replace(ABSOLUTE, '');
  return path === '' || path.startsWith('?') ? `/${path}` : path;
}

/** Refuses a request that says two hosts, or none: a proxy before this api may have read another one than the api does. */
export function refuseUnclearHosts(app: NestFastifyApplication): void {
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', (request, reply, done) => {
      const trouble = troubleWithHost(request);
      if (trouble === undefined) return done();
      sendProblem(new ApiProblem(400, 'INVALID', trouble), request, reply);
    });
}

function troubleWithHost({ raw, originalUrl }: FastifyRequest): string | undefined {
  const names = raw.rawHeaders.filter((_, i) => i % 2 === 0);
  const hosts = names.filter((name) => name.toLowerCase() === 'host').length;
  if (hosts > 1) return 'The request has more than one Host header. Send one.';
  if (hosts === 0 && raw.httpVersion === '1.1') return 'The request has no Host header.';
  const [, named] = ABSOLUTE.exec(originalUrl) ?? [];
  if (named === undefined || named.toLowerCase() === raw.headers.host?.toLowerCase()) return undefined;
  return 'The request target names another host than the Host header.';
}

/**
 * Without keys every caller that reaches this port may do everything. A page in a browser reaches it under a name of its own
 * that points here; so only the names of this machine are answered.
 */
export function refuseForeignHosts(app: NestFastifyApplication, host: string): void {
  const ours = new Set(['localhost', '127.0.0.1', '[::1]', host, `[${host}]`]);
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', (request, reply, done) => {
      if (ours.has(request.hostname.toLowerCase())) return done();
      sendProblem(
        new ApiProblem(421, 'WRONG_HOST', `This api does not answer to that name. Use ${host}.`),
        request,
        reply,
      );
    });
}
