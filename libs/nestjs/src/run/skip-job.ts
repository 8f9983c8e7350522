/** Thrown when there is nothing to do for a job. It ends as skipped: it has neither failed nor completed, and is not kept. */
export class SkipJob extends Error {
  constructor(
    /** Why, in a few words. */
    readonly why: string,
  ) {
    super(`Skipped: ${why}.`);
    this.name = 'SkipJob';
  }
}
