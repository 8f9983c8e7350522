import { formatOwner, InvalidJobError, parseOwner, type OwnedJobOptions } from '#core';
import { Injectable } from '@nestjs/common';
import type { JobsOptions } from 'bullmq';
import { TooLargeError } from '../errors.js';
import { newJobId, queueOfJobId } from '../kinds/job-ids.js';
import { JobRetention } from '../kinds/job-retention.js';
import { KindRegistry } from '../kinds/kind-registry.js';
import type { Kind } from '../kinds/kind.js';
import { readPayload } from '../kinds/payload-schema.js';
import { jobOptionsOf, type EnqueueOptions } from './enqueue-options.js';

const MOST_OWNERS = 4;

/** A request that can be right: a job with its id, as its queue takes it. */
export interface JobRequest {
  readonly kind: Kind;
  readonly payload: unknown;
  readonly id: string;
  readonly owners: readonly string[];
  readonly options: JobsOptions & OwnedJobOptions & { readonly jobId: string };
}

/** Reads what callers ask for. A request that cannot be right is refused before anything is written. */
@Injectable()
export class JobRequests {
  constructor(
    private readonly kinds: KindRegistry,
    private readonly retention: JobRetention,
  ) {}

  async read(kind: Kind, payload: unknown, given: EnqueueOptions = {}): Promise<JobRequest> {
    this.kinds.get(kind.name);
    const value = readAsRun(kind, payload);
    const reading = readPayload(kind.payload, value);
    const read = reading instanceof Promise ? await reading : reading;
    if ('problems' in read)
      throw new InvalidJobError(`The payload of ${kind.name} is wrong:\n${read.problems}`);
    const options = jobOptionsOf(kind, read.payload as never, given);
    const owners = readOwners(options.owners);
    const id = readJobId(kind, given.jobId);
    const kept = this.retention.optionsOf(kind);
    return { kind, payload, id, owners, options: Object.assign(options, kept, { owners, jobId: id }) };
  }
}

function readOwners(owners: OwnedJobOptions['owners'] = []): string[] {
  if (!Array.isArray(owners) || owners.length < 1 || owners.length > MOST_OWNERS)
    throw new InvalidJobError(`A job has one to ${MOST_OWNERS} owners, as in ["trip:42"].`);
  return [...new Set(owners.map((each) => formatOwner(parseOwner(each))))];
}

/** The id of a job with artifacts is all that is known of it when they are found. */
function readJobId({ name, queue, artifacts }: Kind, given: string | undefined): string {
  if (given === undefined) return newJobId(queue);
  if (!artifacts || queueOfJobId(given) === queue) return given;
  throw new InvalidJobError(
    `Jobs of ${name} may leave artifacts, so a jobId of theirs names the queue: jobIdFor('${queue}', …) makes one of any text.`,
  );
}

/** The payload as its run will get it, after JSON: so it is checked. It is stored as the caller gave it. */
function readAsRun(kind: Kind, payload: unknown): unknown {
  const text = toJson(payload);
  const bytes = Buffer.byteLength(text ?? '');
  if (bytes > kind.maxPayloadBytes) throw new TooLargeError(bytes, kind.maxPayloadBytes);
  return text === undefined ? undefined : JSON.parse(text);
}

/** Nothing for what JSON cannot write, such as a function. */
function toJson(payload: unknown): string | undefined {
  try {
    return JSON.stringify(payload);
  } catch (error) {
    throw new InvalidJobError(`The payload cannot be written as JSON: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}
