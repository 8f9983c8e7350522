const MOST_REMEMBERED = 1_000;

/**
 * Runs of which a cancel was announced before this worker had begun them: the announcement may be faster than the job. An id may
 * also be that of another worker's run, or be used again, so what is remembered is a reason to ask the store and no more.
 */
export class AnnouncedCancels {
  private readonly jobIds = new Set<string>();

  remember(jobId: string): void {
    this.jobIds.add(jobId);
    if (this.jobIds.size > MOST_REMEMBERED) this.jobIds.delete(this.jobIds.values().next().value!);
  }

  /** Answers whether it was announced, and forgets it. */
  take(jobId: string): boolean {
    return this.jobIds.delete(jobId);
  }
}
