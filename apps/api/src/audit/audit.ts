import { Runtime } from '#runtime';
import { Injectable } from '@nestjs/common';

/** What an operator did by HTTP. An owner's cancel is not among them: its receipt and its own line say who asked for it. */
type Deed =
  | { readonly event: 'queue.paused' | 'queue.resumed'; readonly queue: string }
  | { readonly event: 'owner.reopened'; readonly owner: string }
  | {
      readonly event: 'schedule.created' | 'schedule.replaced' | 'schedule.deleted';
      readonly schedule: string;
    }
  | {
      readonly event: 'sweep.asked';
      readonly sweep: string;
      readonly sweepId: string;
      readonly dryRun: boolean;
      readonly force: boolean;
      readonly acknowledge: boolean;
    };

/** Writes into the log who did what, once it is done. The request's id is on the line as on every other. */
@Injectable()
export class Audit {
  constructor(private readonly runtime: Runtime) {}

  /** `caller` is the name of the key; '' where none is needed. */
  record(caller: string, deed: Deed): void {
    this.runtime.log.info({ ...deed, by: caller || 'api' });
  }
}
