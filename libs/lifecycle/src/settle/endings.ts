import { Injectable } from '@nestjs/common';
import { CLOSED_KEEP_MS, RECORD_KEEP_MS } from '../keys.js';
import { LifecycleOptions } from '../options.js';
import { ScriptBatch } from '../script-batch.js';

export interface Ending {
  readonly jobId: string;
  /** Of the run that ends; '' when none began. */
  readonly token: string;
  /** The job ended for good and leaves its owners' indexes. */
  readonly leaves: boolean;
  /** Keys of its owners' records, of the primary first. */
  readonly records: readonly string[];
  /** Under which epoch of each owner the job was accepted: one that leaves is not its id's next life. Absent: any. */
  readonly epochs?: readonly string[];
  /** Digest of its deduplication key, which is its primary owner's affair; '' for none. */
  readonly dedup: string;
}

/** Takes runs, and jobs that ended, out of what their owners' keys hold. */
@Injectable()
export class Endings {
  private readonly ending: ScriptBatch;

  constructor(private readonly options: LifecycleOptions) {
    this.ending = new ScriptBatch(options.redis, 'end', () => ['', RECORD_KEEP_MS, CLOSED_KEEP_MS]);
  }

  end(ending: Ending): Promise<unknown> {
    const { records } = ending;
    if (records.length === 1) return this.endWith(0, ending);
    return Promise.all(records.map((_record, i) => this.endWith(i, ending)));
  }

  /** The job was given up with all its workers dead: it leaves, whatever the last of them may still seem to hold. */
  async forget(job: Omit<Ending, 'token' | 'leaves'>): Promise<void> {
    await Promise.all(
      job.records.map(async (_record, i) => {
        const token = await this.newestRun(i, job);
        await this.endWith(i, { ...job, token, leaves: true });
      }),
    );
  }

  private endWith(i: number, { jobId, token, leaves, records, epochs, dedup }: Ending): Promise<unknown> {
    const args = [jobId, token, leaves ? '1' : '0', i === 0 ? dedup : '', epochs?.[i] ?? ''];
    return this.ending.ask(records[i]!, args);
  }

  /** Of the life that is given up: a newer one's run is its own. */
  private async newestRun(
    i: number,
    { jobId, records, epochs }: Omit<Ending, 'token' | 'leaves'>,
  ): Promise<string> {
    const entry = await this.options.redis.hget(records[i]!, `j${jobId}`);
    const [epoch, , , token = ''] = entry?.split('|') ?? [];
    return epochs && epochs[i] !== epoch ? '' : token;
  }
}
