import type { Queue } from 'bullmq';
import type { MooredBackend } from '../backend/moored-backend.js';

/** Notes something with the job of a run, in a field of its own. Answers false if the job has been taken from the run. */
export async function noteOfRun(
  queue: Queue,
  jobId: string,
  token: string,
  field: string,
  value: string,
): Promise<boolean> {
  const backend = queue.backend as unknown as MooredBackend;
  return (await backend.run('noteOfRun', [queue.toKey(jobId), token, field, value])) === 1;
}

export async function readNote(queue: Queue, jobId: string, field: string): Promise<string | undefined> {
  const client = await (queue.backend as unknown as MooredBackend).client;
  return (await client.hget(queue.toKey(jobId), field)) ?? undefined;
}
