import { Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import { KindRegistry } from '../kinds/kind-registry.js';
import type { Kind } from '../kinds/kind.js';
import { readPayload } from '../kinds/payload-schema.js';
import { OwnerCheck } from '../resolvers/owner-check.js';
import { HandlerRegistry } from './handler-registry.js';
import type { Handler } from './handler.js';
import { SkipJob } from './skip-job.js';
import { SnoozeJob } from './snooze-job.js';

/** When a job is looked at again that this worker cannot do. Another worker may know how. */
const NOT_HERE_MS = 30_000;

/** What a run needs beside its job. */
export interface PreparedRun {
  readonly kind: Kind;
  readonly handler: Handler;
  readonly payload: unknown;
}

/** Finds the handler of a job, asks for its owners and reads its payload. Throws `SnoozeJob` or `SkipJob` for a job that cannot run now. */
@Injectable()
export class RunPreparation {
  constructor(
    private readonly kinds: KindRegistry,
    private readonly handlers: HandlerRegistry,
    private readonly owners: OwnerCheck,
  ) {}

  async prepare(job: Job): Promise<PreparedRun> {
    const kind = this.kinds.find(job.name);
    const handler = this.handlers.get(job.name);
    if (!kind || !handler) throw new SnoozeJob('no handler here', NOT_HERE_MS);
    if (kind.checkOwner === 'start') await this.checkOwners(kind, job);
    const reading = readPayload(kind.payload, job.data);
    const read = reading instanceof Promise ? await reading : reading;
    // To fail what an older worker does not understand would lose it.
    if ('problems' in read)
      throw new SnoozeJob(`its payload cannot be read here: ${read.problems}`, NOT_HERE_MS);
    return { kind, handler, payload: read.payload };
  }

  timeoutOf(kind: string): number | undefined {
    return this.kinds.find(kind)?.timeoutMs;
  }

  private async checkOwners(kind: Kind, { opts }: Job): Promise<void> {
    const life = await this.owners.ask(opts.owners ?? []);
    if (life === 'gone') throw new SkipJob('its owner is gone');
    if (life === 'unknown' && kind.onUnknownOwner === 'wait')
      throw new SnoozeJob('owner not known to live', NOT_HERE_MS);
  }
}
