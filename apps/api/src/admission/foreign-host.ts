import { ApiProblem } from '../problem.js';
import type { Check } from './check.js';

/**
 * Without keys every caller that reaches this port may do everything. A page in a browser reaches it under a name of its own
 * that points here; so only the names of this machine are answered.
 */
export function refuseForeignHost(host: string): Check {
  const ours = new Set(['localhost', '127.0.0.1', '[::1]', host, `[${host}]`]);
  return ({ hostname }) =>
    ours.has(hostname.toLowerCase())
      ? undefined
      : new ApiProblem(421, 'WRONG_HOST', `This api does not answer to that name. Use ${host}.`);
}
