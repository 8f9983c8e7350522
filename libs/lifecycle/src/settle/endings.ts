import { Injectable } from '@nestjs/common';
import { CLOSED_KEEP_MS, Keys, RECORD_KEEP_MS } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { ScriptBatch } from '../script-batch.js';

export interface Ending {
  readonly jobId: string;
  /** Of the run that ends; '' when none began. */
  readonly token: string;
  /** The job ended for good and leaves its owners' indexes. */
  readonly leaves: boolean;
  readonly owners: readonly string[];
  /** Digest of its deduplication key, which is its primary owner's affair; '' for none. */
  readonly dedup: string;
}

/** Takes runs, and jobs that ended, out of what their owners' keys hold. */
@Injectable()
export class Endings {
  private readonly keys: Keys;
  private readonly ending: ScriptBatch;

  constructor(private readonly options: LifecycleOptions) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
    this.ending = new ScriptBatch(options.redis, 'end', () => ['', RECORD_KEEP_MS, CLOSED_KEEP_MS]);
  }

  async end({ jobId, token, leaves, owners, dedup }: Ending): Promise<void> {
    await Promise.all(
      owners.map((owner, i) =>
        this.ending.ask(this.keys.ownerText(owner), [jobId, token, leaves ? 1 : 0, i === 0 ? dedup : '']),
      ),
    );
  }

  /** The job was given up with all its workers dead: it leaves, whatever the last of them may still seem to hold. */
  async forget(jobId: string, owners: readonly string[], dedup: string): Promise<void> {
    await Promise.all(
      owners.map(async (owner, i) => {
        const token = await this.newestRun(owner, jobId);
        const args = [jobId, token, 1, i === 0 ? dedup : ''];
        await this.ending.ask(this.keys.ownerText(owner), args);
      }),
    );
  }

  private async newestRun(owner: string, jobId: string): Promise<string> {
    const entry = await this.options.redis.hget(this.keys.ownerText(owner), `j${jobId}`);
    return entry?.split('|')[3] ?? '';
  }
}
