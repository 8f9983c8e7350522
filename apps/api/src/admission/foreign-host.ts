import { ApiProblem } from '#http';
import type { Check } from './check.js';

/**
 * Protects an API without keys against DNS rebinding: a web page could reach this port under its own name. Only names of this
 * machine are accepted.
 */
export function refuseForeignHost(host: string): Check {
  const ours = new Set(['localhost', '127.0.0.1', '[::1]', host, `[${host}]`]);
  return ({ hostname }) =>
    ours.has(hostname.toLowerCase())
      ? undefined
      : new ApiProblem(421, 'WRONG_HOST', `This API does not serve this host name. Use ${host}.`);
}
