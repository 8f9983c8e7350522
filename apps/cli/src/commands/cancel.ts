import { randomUUID } from 'node:crypto';
import type { Receipt } from '../answers.js';
import type { ParsedArgs } from '../arguments.js';
import type { Command, ExitCode, Tools } from '../command.js';
import { ownerOfWords, ownerPath, type OwnerName } from '../owner-name.js';
import { pathTo } from '../api.js';
import { isOutcomeUnknown, WrongUsage } from '../problems.js';
import { quote } from '../render/text.js';
import { cancelMany } from './cancel-many.js';
import { renderReceipt } from './receipt.js';

/** Cancelling an owner with very many jobs takes long. */
const CANCEL_MS = 60_000;
const CANCEL_ID = /^[\w.:-]{1,64}$/;

export const cancelCommand: Command = {
  name: 'owners cancel',
  alias: 'cancel',
  forms: ['<type> <id>', '--job <id>', '--from <file|->'],
  description: 'cancel an owner with all its jobs, one job, or many owners',
  example: "cancel trip 42 --reason 'the ride is off'",
  options: {
    'dry-run': { description: 'only show what would be cancelled' },
    reason: { value: '<text>', description: 'reason to store in the receipt and in the history' },
    'keep-open': { description: 'keep accepting new work for the owner' },
    wait: {
      value: '[<duration>]',
      bare: '30s',
      description: 'wait until nothing runs; exit code 1 if something still does',
    },
    'cancel-id': { value: '<id>', description: 'repeating a call with the same id repeats no cancellation' },
    job: { value: '<id>', description: 'cancel a single job' },
    from: { value: '<file|->', description: 'cancel many owners, one type:id per line; # begins a comment' },
    concurrency: { value: '<1-64>', description: 'with --from: calls at once; default 8' },
    run: { value: '<id>', description: 'with --from: resume an interrupted run by the id it printed' },
  },
  more: 'A job that was enqueued before the cancellation never starts once the cancellation is answered. A cancellation cannot be undone.',
  run: (parsed, tools) => {
    checkMix(parsed);
    if (parsed.has('from')) return cancelMany(parsed, (named, id) => askOne(named, id, parsed, tools), tools);
    const job = parsed.text('job');
    return job === undefined ? cancelOwner(parsed, tools) : cancelJob(job, tools);
  },
};

/** Options that would have no effect together are refused. */
const NOT_WITH: Readonly<Record<string, readonly string[]>> = {
  from: ['job', 'cancel-id', 'dry-run'],
  job: ['from', 'reason', 'keep-open', 'wait', 'cancel-id', 'run', 'concurrency', 'dry-run'],
  'dry-run': ['wait', 'cancel-id'],
};

function checkMix(parsed: ParsedArgs): void {
  for (const [name, others] of Object.entries(NOT_WITH)) {
    if (!parsed.has(name)) continue;
    const wrong = others.find((other) => parsed.has(other));
    if (wrong) throw new WrongUsage(`--${name} cannot be combined with --${wrong}.`);
    if (parsed.words.length > 0 && name !== 'dry-run') {
      throw new WrongUsage(`--${name} already names what to cancel; remove "${parsed.words.join(' ')}".`);
    }
  }
  const lone = ['run', 'concurrency'].find((name) => parsed.has(name) && !parsed.has('from'));
  if (lone) throw new WrongUsage(`--${lone} requires --from.`);
  const id = parsed.text('cancel-id');
  if (id !== undefined && !CANCEL_ID.test(id)) {
    throw new WrongUsage('--cancel-id must have 1 to 64 letters, digits or the characters . _ : -');
  }
}

async function cancelOwner(parsed: ParsedArgs, tools: Tools): Promise<ExitCode> {
  const named = ownerOfWords(parsed.words);
  // The CLI chooses the id, so that a call without an answer can be repeated.
  const cancelId = parsed.text('cancel-id') ?? `cli-${randomUUID()}`;
  try {
    return report(await askOne(named, cancelId, parsed, tools), parsed, tools);
  } catch (error) {
    if (isOutcomeUnknown(error) && !parsed.has('dry-run')) {
      tools.out.note(
        `The outcome is unknown. This command repeats the cancellation safely:\n  ${repeatedCommand(named, cancelId, parsed)}`,
      );
    }
    throw error;
  }
}

export async function cancelJob(id: string, { api, out }: Tools): Promise<ExitCode> {
  printReceipt(await api.delete<Receipt>(pathTo`/v1/jobs/${id}`, { withinMs: CANCEL_MS }), out);
  return 0;
}

function askOne(named: OwnerName, cancelId: string, parsed: ParsedArgs, { api }: Tools): Promise<Receipt> {
  const wait = parsed.duration('wait');
  return api.post<Receipt>(`${ownerPath(named)}/cancel`, {
    body: {
      reason: parsed.text('reason') ?? 'cancelled by hand',
      close: !parsed.has('keep-open'),
      ...(parsed.has('dry-run') ? { dryRun: true } : { cancelId }),
      ...(wait !== undefined && { wait: 'drained', waitFor: wait }),
    },
    withinMs: CANCEL_MS + (wait ?? 0),
  });
}

function report(receipt: Receipt, parsed: ParsedArgs, { out }: Tools): ExitCode {
  printReceipt(receipt, out);
  if (!parsed.has('wait') || receipt.running === 0) return 0;
  out.note('The wait is over and something still runs.');
  return 1;
}

function printReceipt(receipt: Receipt, out: Tools['out']): void {
  out.answer(receipt, (answer, screen) => renderReceipt(answer, false, screen));
}

function repeatedCommand({ type, id }: OwnerName, cancelId: string, parsed: ParsedArgs): string {
  const words = ['mooring', 'cancel', type, quote(id), '--cancel-id', quote(cancelId)];
  const reason = parsed.text('reason');
  if (reason !== undefined) words.push('--reason', quote(reason));
  if (parsed.has('keep-open')) words.push('--keep-open');
  if (parsed.has('wait')) words.push(`--wait=${parsed.text('wait')}`);
  return words.join(' ');
}
