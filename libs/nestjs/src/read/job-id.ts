const WITH_QUEUE = /^(?:repeat:)?(?<queue>[^:]+)-[0-9A-Za-z]{20}(?::\d+)?$/;

/** The queue in which a job with this id is, if the id was made by an enqueuer. */
export function queueOfJobId(id: string): string | undefined {
  return WITH_QUEUE.exec(id)?.groups?.['queue'];
}
