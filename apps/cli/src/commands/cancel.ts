import { randomUUID } from 'node:crypto';
import type { Receipt } from '../answers.js';
import type { Given } from '../arguments.js';
import type { Command, ExitCode, Tools } from '../command.js';
import { ownerOfWords, ownerPath, type OwnerName } from '../owner.name.js';
import { isInDoubt, WrongUsage } from '../problems.js';
import { renderReceipt } from '../render/receipt.js';
import { quote } from '../render/text.js';
import { cancelMany } from './cancel.many.js';
import { jobPath } from './job.js';

/** An owner with very many jobs takes a while. */
const ANSWER_MS = 60_000;
const CANCEL_ID = /^[\w.:-]{1,64}$/;

export const cancel: Command = {
  name: 'cancel',
  usage: ['cancel <type> <id>', 'cancel --job <id>', 'cancel --from <file|->'],
  says: 'ends an owner, with everything it has; or one job; or many owners',
  options: {
    reason: { value: '<text>', says: 'why; it is kept in the receipt and in the history' },
    'keep-open': { says: 'go on accepting new work for it' },
    wait: {
      value: '[<duration>]',
      bare: '30s',
      says: 'wait until nothing of it runs; exit code 1 if something still does',
    },
    'cancel-id': { value: '<id>', says: 'the same id again is the same cancellation' },
    job: { value: '<id>', says: 'cancel this one job' },
    from: { value: '<file|->', says: 'cancel many owners, a type:id on each line; # begins a comment' },
    concurrency: { value: '<1-64>', says: 'with --from: how many at once; default 8' },
    run: { value: '<id>', says: 'with --from: go on with a run that was cut short, by the id it printed' },
  },
  more: 'Nothing that was asked for before a cancellation starts after it was answered. It cannot be undone.',
  run: (given, tools) => {
    checkMix(given);
    if (given.has('from')) return cancelMany(given, (named, id) => askOne(named, id, given, tools), tools);
    return given.has('job') ? cancelJob(given, tools) : cancelOwner(given, tools);
  },
};

/** Options that would be passed over in silence are wrong: somebody meant something by them. */
const NOT_WITH: Readonly<Record<string, readonly string[]>> = {
  from: ['job', 'cancel-id'],
  job: ['from', 'reason', 'keep-open', 'wait', 'cancel-id', 'run', 'concurrency'],
};

function checkMix(given: Given): void {
  for (const [name, others] of Object.entries(NOT_WITH)) {
    if (!given.has(name)) continue;
    const wrong = others.find((other) => given.has(other));
    if (wrong) throw new WrongUsage(`--${name} goes without --${wrong}.`);
    if (given.words.length > 0) {
      throw new WrongUsage(`--${name} says what to cancel; "${given.words.join(' ')}" is too much.`);
    }
  }
  const lone = ['run', 'concurrency'].find((name) => given.has(name) && !given.has('from'));
  if (lone) throw new WrongUsage(`--${lone} is for --from.`);
  const id = given.text('cancel-id');
  if (id !== undefined && !CANCEL_ID.test(id)) {
    throw new WrongUsage('--cancel-id has 1 to 64 letters, digits, and the signs . _ : -');
  }
}

async function cancelOwner(given: Given, tools: Tools): Promise<ExitCode> {
  const named = ownerOfWords(given.words);
  // Chosen here, so that it is known also when no answer comes.
  const cancelId = given.text('cancel-id') ?? `cli-${randomUUID()}`;
  try {
    return report(await askOne(named, cancelId, given, tools), given, tools);
  } catch (error) {
    if (isInDoubt(error)) {
      tools.out.note(
        `Whether it is cancelled is not known. To ask again, safely:\n  ${again(named, cancelId, given)}`,
      );
    }
    throw error;
  }
}

async function cancelJob(given: Given, { api, out }: Tools): Promise<ExitCode> {
  const job = given.text('job')!;
  const receipt = await api.delete<Receipt>(jobPath([job]), { withinMs: ANSWER_MS });
  if (out.isJson) out.json(receipt);
  else out.print(renderReceipt(receipt, false, out.paint));
  return 0;
}

function askOne(named: OwnerName, cancelId: string, given: Given, { api }: Tools): Promise<Receipt> {
  const wait = given.duration('wait');
  return api.post<Receipt>(`${ownerPath(named)}/cancel`, {
    body: {
      reason: given.text('reason') ?? 'cancelled by hand',
      close: !given.has('keep-open'),
      cancelId,
      ...(wait !== undefined && { wait: 'drained', waitFor: wait }),
    },
    withinMs: ANSWER_MS + (wait ?? 0),
  });
}

function report(receipt: Receipt, given: Given, { out }: Tools): ExitCode {
  if (out.isJson) out.json(receipt);
  else out.print(renderReceipt(receipt, false, out.paint));
  if (!given.has('wait') || receipt.running === 0) return 0;
  out.note('It was waited for, and still runs.');
  return 1;
}

/** The same call, with the id it had. */
function again({ type, id }: OwnerName, cancelId: string, given: Given): string {
  const words = ['mooring', 'cancel', type, quote(id), '--cancel-id', quote(cancelId)];
  const reason = given.text('reason');
  if (reason !== undefined) words.push('--reason', quote(reason));
  if (given.has('keep-open')) words.push('--keep-open');
  if (given.has('wait')) words.push(`--wait=${given.text('wait')}`);
  return words.join(' ');
}
