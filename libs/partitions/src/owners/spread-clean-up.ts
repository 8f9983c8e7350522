import { CancelConflictError } from '#core';
import type { Answer, Cancel, OwnersAt, SeenOwner } from '#core/parts';

/** What the other partitions are told, as it stands in the receipt of the home partition. */
interface Intent {
  readonly cancel: Cancel;
  readonly turn: string;
  readonly seen?: readonly SeenOwner[] | undefined;
  readonly hadJobs?: boolean | undefined;
}

type Spread = Pick<Intent, 'seen' | 'hadJobs'> & Pick<Cancel, 'askedAt'>;

/** Finishes cancels that the home partition has made, and the others may not have. Any process can do it. */
export class SpreadCleanUp {
  private readonly home: OwnersAt;
  private readonly others: readonly OwnersAt[];

  constructor(private readonly parts: readonly OwnersAt[]) {
    [this.home, ...this.others] = parts as [OwnersAt, ...OwnersAt[]];
  }

  /** First those that have not reached all partitions. */
  async open(most?: number): Promise<string[]> {
    const open = await Promise.all(this.parts.map(({ cleanUp }) => cleanUp.open(most)));
    return [...new Set([...(await this.unspread()), ...open.flat()])].slice(0, most);
  }

  /** A cancel is made in all partitions before it is cleaned up. */
  async pass(cancelId: string, untilMs = Infinity): Promise<boolean> {
    await this.spread(cancelId);
    const passes = await Promise.all(this.parts.map(({ cleanUp }) => cleanUp.pass(cancelId, untilMs)));
    return passes.every(Boolean);
  }

  /** All those of one owner. */
  async spreadAllOf(name: string): Promise<void> {
    for (const cancelId of await this.unspread()) await this.spread(cancelId, name);
  }

  /** Answers true if this call has made the cancel in the other partitions. */
  async spread(cancelId: string, ofOwner?: string): Promise<boolean> {
    const { store } = this.home;
    const receipt = store.receiptOf(cancelId);
    const fields = await store.fieldsOf(receipt);
    if (ofOwner !== undefined && fields['owner'] !== ofOwner) return false;
    const intent = readIntent(cancelId, fields);
    const words = intent
      ? await Promise.all(this.others.map((part, i) => cancelIn(part, intent, i + 1)))
      : [];
    const isEmpty = intent !== undefined && words.every((word) => word === 'empty');
    // A receipt without it was spread by another process, or has expired.
    await store.run('spreadDone', receipt, [cancelId, isEmpty ? '1' : '']);
    return intent !== undefined;
  }

  /** Their cancelIds, the oldest first. */
  private unspread(): Promise<string[]> {
    return this.home.store.readRange(`${this.home.store.root}~spreading`, 0, -1);
  }
}

function readIntent(cancelId: string, fields: Readonly<Record<string, string>>): Intent | undefined {
  if (fields['spread'] === undefined) return undefined;
  const { seen, hadJobs, askedAt } = JSON.parse(fields['spread']) as Spread;
  const { owner: name = '', turn = '', reason = '', by = '', closed } = fields;
  const cancel = {
    cancelId,
    name,
    reason,
    by,
    close: closed === '1',
    ...(askedAt !== undefined && { askedAt }),
  };
  return { cancel, turn, seen, hadJobs };
}

/** A process that comes late repeats it: a receipt with this cancelId is there then, and nothing more is cancelled. */
async function cancelIn({ canceller }: OwnersAt, intent: Intent, at: number): Promise<string> {
  const { cancel, turn, seen, hadJobs } = intent;
  const step = (cancelId: string): Promise<Answer> =>
    canceller.step({ ...cancel, cancelId }, seen?.[at], { turn, hadJobs });
  try {
    return (await step(cancel.cancelId))[0];
  } catch (error) {
    if (!(error instanceof CancelConflictError)) throw error;
    // The cancel of a job has used the name here since it was looked at: the owner is cancelled under another one.
    return (await step(`${cancel.cancelId}~${at}`))[0];
  }
}
