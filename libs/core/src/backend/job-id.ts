import { randomBytes } from 'node:crypto';

const process_ = randomBytes(8).toString('base64url').replaceAll('_', 'A');
let count = 0;

/** An id that no other process makes. It is chosen before the job is added: a command that is sent twice adds one job. */
export function newJobId(): string {
  count += 1;
  return `${process_}.${count.toString(36)}`;
}
