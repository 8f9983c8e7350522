/** The run's owner was cancelled: its job has been ended and is not kept. */
export class RunCancelled extends Error {
  constructor(readonly jobId: string) {
    super(`Job ${jobId} was cancelled with its owner.`);
    this.name = 'RunCancelled';
  }
}
