import { pathTo } from '../api.js';
import type { Receipt } from '../answers.js';
import { ask } from '../ask.js';
import type { Screen } from '../output.js';
import { ownerWords } from '../owner-name.js';
import { facts, sections, table } from '../render/table.js';
import { clean, plural, quote } from '../render/text.js';
import { named } from '../words.js';

export const receiptCommand = ask<Receipt>({
  name: 'cancellations show',
  alias: 'receipt',
  description: 'show the current state of a cancellation',
  example: 'receipt cli-6f1c…',
  words: named('cancelId'),
  canWatch: true,
  call: (api, [id]) => api.get(pathTo`/v1/cancellations/${id!}`),
  render: (receipt, screen) => renderReceipt(receipt, true, screen),
});

/** Column order. States that are not listed here come last. */
const STATES = ['waiting', 'delayed', 'retrying', 'refused', 'running'];

/** `isLater`: the receipt is read again after the cancellation was answered. */
export function renderReceipt(receipt: Receipt, isLater: boolean, screen: Screen): string {
  if (receipt.dryRun) return renderPreview(receipt, screen);
  return sections(
    receiptSentence(receipt, isLater, screen),
    queueTable(receipt, screen),
    facts(
      [
        ['reason', receipt.reason],
        ['by', [receipt.by, receipt.at].filter(Boolean).join(', at ')],
        ['cancelId', receipt.cancelId],
        ['durable', durabilityOf(receipt)],
      ],
      screen,
    ),
    next(receipt, screen),
  );
}

/** Nothing where cancels do not wait for it. */
function durabilityOf({ durable, mustBeDurable }: Receipt): string | undefined {
  if (durable) return 'yes';
  return mustBeDurable && 'not confirmed; if the store fails, read this receipt again';
}

function renderPreview(receipt: Receipt, screen: Screen): string {
  const { owner, removed, aborted, schedules } = receipt;
  const would = [
    plural(removed, 'waiting job'),
    plural(aborted, 'running job'),
    ...(schedules > 0 ? [plural(schedules, 'schedule')] : []),
  ].join(', ');
  return sections(
    `Dry run: nothing was cancelled. A cancel of ${screen.paint('bold', clean(owner))} would end ${would}.`,
    queueTable(receipt, screen),
  );
}

function receiptSentence(receipt: Receipt, isLater: boolean, { paint }: Screen): string {
  const { job } = receipt;
  const what = job === undefined ? receipt.owner : `Job ${job}`;
  const ended = `${paint('bold', clean(what))} ${isLater ? 'was' : 'is'} cancelled: ${job === undefined ? whatEnded(receipt) : howItEnded(receipt)}.`;
  const rest = stillRuns(receipt);
  const running = receipt.done ? paint('green', rest) : paint('yellow', rest);
  // Cancelling one job does not affect new jobs of its owner.
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
    return done ? 'it had no jobs' : 'its jobs do not start any more and are being removed';
  const waited = `${plural(removed, 'waiting job')} removed`;
  const ran = `${plural(aborted, 'running job')} told to stop`;
  const planned = `${plural(schedules, 'schedule')} ended`;
  return [
    ...(removed > 0 ? [waited] : []),
    ...(aborted > 0 ? [ran] : []),
    ...(schedules > 0 ? [planned] : []),
  ].join(', ');
}

function howItEnded(receipt: Receipt): string {
  const { removed, aborted, done } = receipt;
  if (removed + aborted > 1) return `together with its descendants in the flow, ${whatEnded(receipt)}`;
  if (aborted > 0) return 'it was running and was told to stop';
  if (removed > 0) return 'it was waiting and is removed';
  return done ? 'it had already ended' : 'it is being removed';
}

function stillRuns({ running, done }: Receipt): string {
  if (running > 0) return `${running} still running: a run that does not stop in time is abandoned.`;
  return done ? 'Nothing is running.' : 'Nothing is running; clean-up is in progress.';
}

/** The code of an abandoned run may continue until its process exits. */
function abandoned({ ignored }: Receipt, paint: Screen['paint']): string {
  if (ignored === 0) return '';
  const did = `${ignored} did not stop and ${ignored === 1 ? 'was' : 'were'} abandoned`;
  return paint('yellow', `${did}: the code may still run, but its result is discarded.`);
}

function newWork({ closed }: Receipt, isLater: boolean): string {
  const since = isLater ? 'Since then, new' : 'New';
  return `${since} work for it is ${closed ? 'refused until it is reopened' : 'accepted'}.`;
}

function queueTable(receipt: Receipt, screen: Screen): string {
  const queues = Object.entries(receipt.byQueue);
  if (queues.length === 0) return '';
  const found = queues.flatMap(([, { removed }]) => Object.keys(removed));
  const states = [...new Set([...STATES, ...found])].filter((state) => found.includes(state));
  const runs = queues.some(([, { aborted }]) => aborted > 0) ? ['told to stop', 'still running'] : [];
  return table(
    ['queue', ...states, ...runs],
    queues.map(([queue, { removed, aborted, running }]) => [
      queue,
      ...states.map((state) => removed[state] ?? 0),
      aborted,
      running,
    ]),
    screen,
  );
}

function next({ owner, job, cancelId, closed, done }: Receipt, { paint }: Screen): string {
  const again = `mooring receipt ${quote(cancelId)}`;
  const steps: [string, string][] = done ? [] : [[again, 'show its current state']];
  if (closed && job === undefined) {
    steps.push([
      `mooring reopen ${ownerWords(owner)}`,
      'accept new work again; cancelled jobs stay cancelled',
    ]);
  }
  if (job === undefined) {
    steps.push([`mooring owner ${ownerWords(owner)} --history`, 'list each removed job']);
  }
  if (done) steps.push([again, 'show this receipt again']);
  const widest = Math.max(...steps.map(([command]) => command.length));
  const lines = steps.map(([command, does]) => `  ${clean(command).padEnd(widest)}   ${paint('dim', does)}`);
  return ['Next', ...lines].join('\n');
}
