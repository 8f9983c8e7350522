import type { Receipt } from '../answers.js';
import { formatOwner } from '../owner.name.js';
import type { ListedOwner } from '../owner.list.js';
import type { Paint } from '../output.js';
import { Refused, Unreachable } from '../problems.js';
import { bar } from './bar.js';
import { clean, plural } from './text.js';

export interface FailedOne extends ListedOwner {
  readonly error: Refused | Unreachable;
}

/** What the cancellations of a list have come to so far. */
export class Tally {
  owners = 0;
  removed = 0;
  aborted = 0;
  running = 0;
  readonly failures: FailedOne[] = [];
  last: Receipt | undefined;
  /** Why going on is no use: nobody answers, or the key will not do. */
  stoppedBy: Refused | Unreachable | undefined;

  constructor(readonly asked: number) {}

  cancelled(receipt: Receipt): void {
    this.last = receipt;
    this.owners += 1;
    this.removed += receipt.removed;
    this.aborted += receipt.aborted;
    this.running += receipt.running;
  }

  failed(one: ListedOwner, error: Refused | Unreachable): void {
    this.failures.push({ ...one, error });
    if (error instanceof Unreachable || error.status === 401 || error.status === 403) this.stoppedBy = error;
  }

  get notTried(): number {
    return this.asked - this.owners - this.failures.length;
  }
}

export function renderProgress({ asked, owners, failures }: Tally): string {
  const ended = owners + failures.length;
  const failed = failures.length > 0 ? `, ${failures.length} failed` : '';
  return `${bar(ended, asked)}${failed}`;
}

export function renderFailure({ owner, line, error }: FailedOne, paint: Paint): string {
  const code = error instanceof Refused ? (error.problem?.code ?? String(error.status)) : 'no answer';
  const id = error instanceof Refused ? error.problem?.requestId : undefined;
  const detail = clean(error.message.split('\n')[0]!);
  const request = id ? ` (requestId ${clean(id)})` : '';
  return `line ${line}: ${paint('red', clean(formatOwner(owner)))} ${clean(code)}: ${detail}${request}`;
}

export function renderTally(tally: Tally, run: string, paint: Paint): string {
  const { asked, owners, removed, aborted, running, failures, notTried } = tally;
  const all = owners === asked ? paint('green', `All ${asked}`) : paint('red', `${owners} of ${asked}`);
  const still =
    running === 0 ? 'Nothing of them runs any more.' : `${running} still ${running === 1 ? 'runs' : 'run'}.`;
  const lines = [
    `${all} cancelled: ${plural(removed, 'job')} removed, ${aborted} told to stop. ${still}`,
    ...(failures.length > 0
      ? [`${failures.length} failed, ${notTried} not tried. To go on: the same command, with --run ${run}`]
      : []),
  ];
  return lines.join('\n');
}
