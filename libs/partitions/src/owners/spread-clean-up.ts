import type { OwnersAccess, OwnersAt } from '#core/parts';
import type { UnspreadCancels } from './unspread-cancels.js';

/** The clean-up of cancels in all partitions. */
export class SpreadCleanUp implements Pick<OwnersAccess['cleanUp'], 'open' | 'pass'> {
  constructor(
    private readonly parts: readonly OwnersAt[],
    private readonly unspread: UnspreadCancels,
  ) {}

  /** First those that have not reached all partitions. */
  async open(most?: number): Promise<string[]> {
    const open = await Promise.all(this.parts.map(({ cleanUp }) => cleanUp.open(most)));
    const unspread = await this.unspread.list();
    return [...new Set([...unspread, ...open.flat()])].slice(0, most);
  }

  /** A cancel is made in all partitions before it is cleaned up. */
  async pass(cancelId: string, untilMs = Infinity): Promise<boolean> {
    await this.unspread.spread(cancelId);
    const passes = await Promise.all(this.parts.map(({ cleanUp }) => cleanUp.pass(cancelId, untilMs)));
    return passes.every(Boolean);
  }
}
