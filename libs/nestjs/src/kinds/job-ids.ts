import { createHash, randomBytes } from 'node:crypto';

const DIGITS = 20;
const OWN_ID = /^(?:repeat:(?<scheduled>.+)-[0-9A-Za-z]{20}:\d+|(?<queue>[^:]+)-[0-9A-Za-z]{20})$/;
const TURN = /^repeat:(?<scheduler>.+):(?<due>\d+)$/;
const TURN_IN_STORE = /^(?<scheduler>.+-[0-9A-Za-z]{20})_(?<due>\d+)$/;

/** The id of a new job: its queue, so that the id alone leads to the job, and 80 random bits. */
export function newJobId(queue: string): string {
  return `${queue}-${randomDigits()}`;
}

/** The system is asked once for the digits of many ids: a call takes longer than the rest of an enqueue's checks. */
const DIGITS_AT_ONCE = DIGITS * 500;
let digits = '';
let used = 0;

function randomDigits(): string {
  if (used === digits.length) {
    digits = randomBytes(DIGITS_AT_ONCE / 2).toString('hex');
    used = 0;
  }
  used += DIGITS;
  return digits.slice(used - DIGITS, used);
}

/** The id of the job that does what a text names: the same for the same text. */
export function jobIdFor(queue: string, what: string): string {
  return `${queue}-${createHash('sha256').update(what).digest('hex').slice(0, DIGITS)}`;
}

/** The queue that an id leads to, also that of a turn of a schedule. Undefined for an id that a caller chose. */
export function queueOfJobId(id: string): string | undefined {
  const { scheduled, queue } = OWN_ID.exec(id)?.groups ?? {};
  return scheduled ?? queue;
}

/** The id under which a job's artifacts are kept: part of paths, in which BullMQ's colons are not allowed. */
export function artifactsIdOf(jobId: string): string {
  const { scheduler, due } = TURN.exec(jobId)?.groups ?? {};
  return scheduler === undefined ? jobId : `${scheduler}_${due}`;
}

/** The job whose artifacts are kept under this id. */
export function jobIdOfArtifacts(id: string): string {
  const { scheduler, due } = TURN_IN_STORE.exec(id)?.groups ?? {};
  return scheduler === undefined ? id : `repeat:${scheduler}:${due}`;
}
