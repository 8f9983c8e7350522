/** The fields that say which job a fact, an error or a log line is about. */
export interface JobFacts {
  readonly queue: string;
  readonly kind: string;
  readonly jobId: string;
  /** The primary owner, as in `trip:42`. */
  readonly owner: string;
}
