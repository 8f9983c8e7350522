import type { Job } from 'bullmq';
import { z } from 'zod';
import { CorruptJobError } from '../errors.js';
import type { JobFacts } from './job-facts.js';

/** What BullMQ stores as a job's data. The kind is the job's name. Short names: every waiting job carries them. */
export interface Envelope {
  readonly v: 1;
  readonly owners: readonly string[];
  readonly body?: unknown;
}

const Envelope = z.object({
  v: z.literal(1),
  owners: z
    .array(z.string().regex(/^[a-z][\w-]*:./is))
    .min(1)
    .max(4),
  body: z.unknown().optional(),
});

/**
 * The envelope of a job, or an error that ends it for good: a job whose hash is gone, or that another program
 * put into the queue, is never run empty.
 */
export function openEnvelope(job: Job): Envelope {
  const read = Envelope.safeParse(job.data);
  if (!job.name || !read.success) throw new CorruptJobError(job.id ?? '?', job.queueName);
  return read.data;
}

/** Which job this is, also when it is not one of ours. */
export function factsOf(job: Job): JobFacts {
  const owners = (job.data as Partial<Envelope> | undefined)?.owners;
  return { queue: job.queueName, kind: job.name, jobId: job.id ?? '?', owner: owners?.[0] ?? '?' };
}
