/** What BullMQ says of a parent that it fails because of a child, which it names by its key. Such a parent has not run. */
const FAILED_CHILD = /^child \S+:([^\s:]+) failed$/;

export function failedOfChild(failedReason: string): boolean {
  return FAILED_CHILD.test(failedReason);
}

/** Why a job failed, as its callers are told. */
export function wordsOfFailure(failedReason: string): string {
  return failedReason.replace(FAILED_CHILD, 'its child $1 did not complete');
}
