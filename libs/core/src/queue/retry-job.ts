import { ErrorCode, type Job, type JobState, type RetryOptions } from 'bullmq';
import { JobNotEndedError, JobNotFoundError } from '../model/errors.js';

/** One job that has ended waits again. Answers the state it is in then. */
export async function retryJob(
  id: string,
  find: (id: string) => Promise<Job | undefined>,
  options?: RetryOptions,
): Promise<JobState | 'unknown'> {
  const job = await find(id);
  if (!job) throw new JobNotFoundError(id);
  const state = await job.getState();
  if (state !== 'failed' && state !== 'completed') throw new JobNotEndedError(id, state);
  try {
    await job.retry(state, options);
  } catch (error) {
    throw inWords(id, error as { code?: unknown });
  }
  return job.getState();
}

/** Another caller was faster: it was retried, or removed. */
function inWords(id: string, error: { code?: unknown }): unknown {
  if (error.code === ErrorCode.JobNotExist) return new JobNotFoundError(id);
  if (error.code === ErrorCode.JobNotInState) return new JobNotEndedError(id, 'unknown');
  return error;
}
