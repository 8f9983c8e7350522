import { Job, type JobJson, type MinimalQueue } from 'bullmq';
import { ownersOfMark } from '../scripts/mark.js';

/** As BullMQ has it for data and results of which nothing is said. */
type Anything = Job['data'];

/** BullMQ's job. Its owners stand among the options that it was added with. */
export class MooredJob extends Job {
  static override fromJSON<T = Anything, R = Anything, N extends string = string>(
    queue: MinimalQueue,
    json: JobJson,
    jobId?: string,
  ): Job<T, R, N> {
    const { mooring, ...opts } = json.opts;
    if (mooring === undefined) return super.fromJSON(queue, json, jobId);
    return super.fromJSON(queue, { ...json, opts: { ...opts, owners: ownersOfMark(mooring) } }, jobId);
  }
}
