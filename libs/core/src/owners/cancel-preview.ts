import { CancelConflictError } from '../model/errors.js';
import { formatOwner, type Owner } from '../model/owner.js';
import { escapeText } from '../scripts/escape.js';
import { checkOptions, type CancelOptions } from './cancel-options.js';
import type { SeenOwner } from './canceller.js';
import type { OwnerJob, OwnerReader, OwnerView } from './owner-reader.js';
import { emptyReceipt, type Receipt } from './receipt.js';

/** What a cancel would do. It reads a page at a time and writes nothing, so jobs may begin and end while it counts. */
export class CancelPreview {
  constructor(private readonly reader: Pick<OwnerReader, 'get' | 'receipt'>) {}

  async cancel(owner: Owner, options: CancelOptions = {}, seen?: SeenOwner): Promise<Receipt> {
    checkOptions(options);
    const { cancelId = '' } = options;
    const earlier = cancelId && (await this.earlierReceipt(cancelId, owner));
    if (earlier) return { ...earlier, dryRun: true };
    const view = await this.reader.get(owner);
    const { reason = '', by = '' } = options;
    const asked = { at: Date.now(), reason, by };
    const name = escapeText(formatOwner(owner));
    const nothing = emptyReceipt(cancelId, name, { ...asked, dryRun: true, done: false });
    if (view && isVoid(view, options, seen)) return { ...nothing, late: true };
    return { ...nothing, ...(view && count(await this.jobsOf(owner, view))), closed: options.close ?? true };
  }

  /** The receipt that the same cancelId has given already. */
  private async earlierReceipt(cancelId: string, owner: Owner): Promise<Receipt | undefined> {
    const receipt = await this.reader.receipt(cancelId);
    if (receipt && receipt.owner !== formatOwner(owner)) throw new CancelConflictError(cancelId);
    return receipt;
  }

  /** A job may stand on two pages while the record changes. */
  private async jobsOf(owner: Owner, first: OwnerView): Promise<OwnerJob[]> {
    const jobs = new Map<string, OwnerJob>();
    let page: OwnerView | undefined = first;
    while (page) {
      for (const job of page.jobs) jobs.set(`${job.queue}:${job.id}`, job);
      page = page.cursor === undefined ? undefined : await this.reader.get(owner, { cursor: page.cursor });
    }
    return [...jobs.values()];
  }
}

/** As `cancel.lua` decides it. */
function isVoid(view: OwnerView, { happenedAt }: CancelOptions, seen?: SeenOwner): boolean {
  const isReopenedSince =
    happenedAt !== undefined && view.reopenedAt !== undefined && happenedAt < view.reopenedAt;
  return (
    isReopenedSince || (seen !== undefined && (seen.epoch !== view.epoch || seen.wanted !== view.wanted))
  );
}

function count(jobs: readonly OwnerJob[]): Pick<Receipt, 'removed' | 'aborted' | 'byQueue'> {
  const byQueue: Record<string, Record<string, number>> = {};
  for (const { queue, state } of jobs) {
    const states = (byQueue[queue] ??= {});
    const name = nameInReceipt(state);
    states[name] = (states[name] ?? 0) + 1;
  }
  const aborted = jobs.filter(({ state }) => state === 'running').length;
  return { removed: jobs.length - aborted, aborted, byQueue };
}

function nameInReceipt(state: string): string {
  if (state === 'running') return 'aborted';
  return state === 'waiting-children' ? 'waiting' : state;
}
