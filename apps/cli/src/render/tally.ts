import type { Receipt } from '../answers.js';
import { formatOwner } from '../owner-name.js';
import type { ListedOwner } from '../owner-list.js';
import type { Screen } from '../output.js';
import { Refused, Unreachable } from '../problems.js';
import { bar, clean, plural } from './text.js';

export interface FailedOwner extends ListedOwner {
  readonly error: Refused | Unreachable;
}

/** Running totals of `cancel --from`. */
export class Tally {
  owners = 0;
  removed = 0;
  aborted = 0;
  running = 0;
  readonly failures: FailedOwner[] = [];
  last: Receipt | undefined;
  /** The error that makes further calls pointless: no answer from the API, or a key that is refused. */
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

export function renderFailure({ owner, line, error }: FailedOwner, { paint }: Screen): string {
  const code = error instanceof Refused ? (error.problem?.code ?? String(error.status)) : 'no answer';
  const id = error instanceof Refused ? error.problem?.requestId : undefined;
  const detail = clean(error.message.split('\n')[0]!);
  const request = id ? ` (requestId ${clean(id)})` : '';
  return `line ${line}: ${paint('red', clean(formatOwner(owner)))} ${clean(code)}: ${detail}${request}`;
}

export function renderTally(tally: Tally, run: string, { paint }: Screen): string {
  const { asked, owners, removed, aborted, running, failures, notTried } = tally;
  const all = owners === asked ? paint('green', `All ${asked}`) : paint('red', `${owners} of ${asked}`);
  const still = running === 0 ? 'Nothing is running.' : `${running} still running.`;
  const lines = [
    `${all} cancelled: ${plural(removed, 'job')} removed, ${aborted} told to stop. ${still}`,
    ...(failures.length > 0
      ? [
          `${failures.length} failed, ${notTried} not tried. To continue, repeat the command with --run ${run}`,
        ]
      : []),
  ];
  return lines.join('\n');
}
