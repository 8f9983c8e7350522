import type { Receipt } from '../answers.js';
import { readOwner } from '../owner.name.js';
import type { Paint } from '../output.js';
import { facts, table } from './table.js';
import { clean, plural, quote } from './text.js';

/** States in the order a job goes through them; what else a receipt names comes behind. */
const STATES = ['waiting', 'delayed', 'retrying', 'refused', 'running'];

/** What a cancellation did: first in a sentence, then by queue, then what to do next. `isLater`: it is read again. */
export function renderReceipt(receipt: Receipt, isLater: boolean, paint: Paint): string {
  return [
    receiptSentence(receipt, isLater, paint),
    queueTable(receipt, paint),
    facts(
      [
        ['reason', receipt.reason],
        ['by', [receipt.by, receipt.at].filter(Boolean).join(', at ')],
        ['cancelId', receipt.cancelId],
        ['durable', receipt.durable ? 'yes' : 'not known; if the store fails, look at this receipt again'],
      ],
      paint,
    ),
    next(receipt, paint),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** What was ended; whether something still runs; whether new work is refused. */
export function receiptSentence(receipt: Receipt, isLater: boolean, paint: Paint): string {
  const { job } = receipt;
  const what = job === undefined ? receipt.owner : `Job ${job}`;
  const ended = `${paint('bold', clean(what))} ${isLater ? 'was' : 'is'} cancelled: ${job === undefined ? whatEnded(receipt) : howItEnded(receipt)}.`;
  const rest = stillRuns(receipt);
  const running = receipt.done ? paint('green', rest) : paint('yellow', rest);
  // The cancellation of one job says nothing about the others of its owner.
  return [
    ended,
    running,
    abandoned(receipt, paint),
    ...(job === undefined ? [newWork(receipt, isLater)] : []),
  ]
    .filter((part) => part !== '')
    .join(' ');
}

function whatEnded({ removed, aborted, schedules, done }: Receipt): string {
  if (removed + aborted + schedules === 0)
    return done ? 'it had no jobs' : 'nothing of it starts any more, and it is on its way out';
  const waited = `${plural(removed, 'job')} that waited ${removed === 1 ? 'is' : 'are'} removed`;
  const ran = `${aborted} that ran ${aborted === 1 ? 'was' : 'were'} told to stop`;
  const planned = `${plural(schedules, 'schedule')} ${schedules === 1 ? 'is' : 'are'} ended`;
  return [
    ...(removed > 0 ? [waited] : []),
    ...(aborted > 0 ? [ran] : []),
    ...(schedules > 0 ? [planned] : []),
  ].join(', ');
}

function howItEnded(receipt: Receipt): string {
  const { removed, aborted, done } = receipt;
  if (removed + aborted > 1) return `with those below it in its flow, ${whatEnded(receipt)}`;
  if (aborted > 0) return 'it ran, and was told to stop';
  if (removed > 0) return 'it waited, and is removed';
  return done ? 'it had ended already' : 'it is on its way out';
}

function stillRuns({ running, done }: Receipt): string {
  if (running > 0)
    return `${running} still ${running === 1 ? 'runs' : 'run'}: what does not stop by itself is soon abandoned.`;
  return done ? 'Nothing runs any more.' : 'Nothing runs any more; some clean-up is under way.';
}

/** Its code may go on for all we know, until its process ends. */
function abandoned({ ignored }: Receipt, paint: Paint): string {
  if (ignored === 0) return '';
  const did = `${ignored} did not listen and ${ignored === 1 ? 'was' : 'were'} abandoned`;
  return paint('yellow', `${did}: its code may go on, its result does not count.`);
}

function newWork({ closed }: Receipt, isLater: boolean): string {
  const since = isLater ? 'From then on new' : 'New';
  return `${since} work for it is ${closed ? 'refused until it is reopened' : 'accepted'}.`;
}

function queueTable(receipt: Receipt, paint: Paint): string {
  const queues = Object.entries(receipt.byQueue);
  if (queues.length === 0) return '';
  const named = queues.flatMap(([, { removed }]) => Object.keys(removed));
  const states = [...new Set([...STATES, ...named])].filter((state) => named.includes(state));
  const runs = queues.some(([, { aborted }]) => aborted > 0) ? ['told to stop', 'still run'] : [];
  return table(
    ['queue', ...states, ...runs],
    queues.map(([queue, { removed, aborted, running }]) => [
      queue,
      ...states.map((state) => removed[state] ?? 0),
      aborted,
      running,
    ]),
    paint,
  );
}

function next({ owner, job, cancelId, closed, done }: Receipt, paint: Paint): string {
  const again = `mooring receipt ${quote(cancelId)}`;
  const steps: [string, string][] = done ? [] : [[again, 'how it stands now']];
  if (closed && job === undefined) {
    steps.push([`mooring reopen ${ownerWords(owner)}`, 'accepts new work again; the old jobs stay dead']);
  }
  if (job === undefined) {
    steps.push([`mooring owner ${ownerWords(owner)} --history`, 'each job that was removed']);
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
