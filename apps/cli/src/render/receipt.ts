import type { Receipt } from '../answers.js';
import { readOwner } from '../owner.name.js';
import type { Paint } from '../output.js';
import { facts, table } from './table.js';
import { clean, plural, quote } from './text.js';

/** States in the order a job goes through them; what else a receipt names comes behind. */
const STATES = ['waiting', 'delayed', 'retrying', 'running'];

export interface About {
  /** What was ended, when it was not the whole owner. */
  readonly job?: string | undefined;
  /** It is read again, some time after the cancellation. */
  readonly isLater?: boolean;
}

/** What a cancellation did: first in a sentence, then by queue, then what to do next. */
export function renderReceipt(receipt: Receipt, about: About, paint: Paint): string {
  return [
    receiptSentence(receipt, about, paint),
    queueTable(receipt, paint),
    facts(
      [
        ['reason', receipt.reason],
        ['by', [receipt.by, receipt.at].filter(Boolean).join(', at ')],
        ['cancelId', receipt.cancelId],
      ],
      paint,
    ),
    next(receipt, about, paint),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** What was ended; whether something still runs; whether new work is refused. */
export function receiptSentence(receipt: Receipt, { job, isLater = false }: About, paint: Paint): string {
  const what = job === undefined ? receipt.owner : `Job ${job}`;
  const ended = `${paint('bold', clean(what))} ${isLater ? 'was' : 'is'} cancelled: ${job === undefined ? whatEnded(receipt) : howItEnded(receipt)}.`;
  const rest = stillRuns(receipt);
  const running = receipt.done ? paint('green', rest) : paint('yellow', rest);
  // The cancellation of one job says nothing about the others of its owner.
  return [ended, running, ...(job === undefined ? [newWork(receipt, isLater)] : []), unsure(receipt, paint)]
    .filter((part) => part !== '')
    .join(' ');
}

function whatEnded({ removed, aborted }: Receipt): string {
  if (removed + aborted === 0) return 'it had no jobs';
  const waited = `${plural(removed, 'job')} that had not begun ${removed === 1 ? 'is' : 'are'} removed`;
  const ran = `${aborted} ${aborted === 1 ? 'that runs was' : 'that run were'} told to stop`;
  return [...(removed > 0 ? [waited] : []), ...(aborted > 0 ? [ran] : [])].join(', ');
}

function howItEnded({ removed, aborted }: Receipt): string {
  if (removed > 0) return 'it had not begun, and is removed';
  return aborted > 0 ? 'it had begun, and was told to stop' : 'it had ended already';
}

function stillRuns({ running, ignored = 0, done }: Receipt): string {
  if (running > 0) {
    const stubborn = ignored > 0 ? ` (${ignored} ${ignored === 1 ? 'does' : 'do'} not listen)` : '';
    return `${running} still ${running === 1 ? 'runs' : 'run'}${stubborn}.`;
  }
  return done ? 'Nothing runs any more.' : 'Nothing runs any more; some clean-up is under way.';
}

function newWork({ closed }: Receipt, isLater: boolean): string {
  const since = isLater ? 'From then on new' : 'New';
  return `${since} work for it is ${closed ? 'refused until it is reopened' : 'accepted'}.`;
}

function unsure({ durable }: Receipt, paint: Paint): string {
  return durable === false
    ? paint(
        'red',
        'The store may lose this if it fails right now: look at the receipt again after a failure.',
      )
    : '';
}

function queueTable(receipt: Receipt, paint: Paint): string {
  const queues = Object.entries(receipt.byQueue ?? {});
  if (queues.length === 0) return '';
  const named = queues.flatMap(([, { removed = {} }]) => Object.keys(removed));
  const states = [...new Set([...STATES, ...named])].filter((state) => named.includes(state));
  return table(
    ['queue', ...states, 'told to stop'],
    queues.map(([queue, { removed = {}, aborted = 0 }]) => [
      queue,
      ...states.map((state) => removed[state] ?? 0),
      aborted,
    ]),
    paint,
  );
}

function next({ owner, cancelId, closed, done }: Receipt, { job }: About, paint: Paint): string {
  const again = `mooring receipt ${quote(cancelId)}`;
  const steps: [string, string][] = done ? [] : [[again, 'how it stands now']];
  if (closed && job === undefined) {
    steps.push([`mooring reopen ${ownerWords(owner)}`, 'accepts new work again; the old jobs stay dead']);
  }
  if (done) steps.push([again, 'shows this again']);
  const widest = Math.max(...steps.map(([command]) => command.length));
  const lines = steps.map(([command, does]) => `  ${clean(command).padEnd(widest)}   ${paint('dim', does)}`);
  return ['Next', ...lines].join('\n');
}

/** As it is typed: the type, and the id. */
export function ownerWords(owner: string): string {
  const read = readOwner(owner);
  return 'wrong' in read ? quote(owner) : `${read.type} ${quote(read.id)}`;
}
