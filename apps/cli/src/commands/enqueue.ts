import type { Ticket } from '../answers.js';
import type { ParsedArgs } from '../arguments.js';
import type { Command, ExitCode, Tools } from '../command.js';
import type { Screen } from '../output.js';
import { ownerWords, readOwner } from '../owner-name.js';
import { didYouMean, isOutcomeUnknown, WrongUsage } from '../problems.js';
import { clean, quote } from '../render/text.js';
import { named } from '../words.js';

const STRATEGIES = ['none', 'skip', 'replace', 'coalesce'];

const words = named('kind');

export const enqueueCommand: Command = {
  name: 'enqueue',
  words,
  forms: ['<kind> --owner <type:id> [--payload <json>]'],
  example: 'enqueue probe --owner trip:42 --payload \'{"ms":2000}\'',
  description: 'enqueue a job',
  options: {
    owner: { value: '<type:id>', many: true, description: 'owner of the job, as in trip:42; up to four' },
    payload: { value: '<json>', description: '\'{"ms":1}\', @file, or - for standard input; default {}' },
    delay: { value: '<duration>', description: 'delay before it may start, as in 5m' },
    'expires-in': { value: '<duration>', description: 'time from now until which it may start' },
    priority: { value: '<1-200>', description: '1 is the most urgent; default 100' },
    dedup: {
      value: '<strategy[:key]>',
      description: `what to do while a duplicate is pending: ${STRATEGIES.join(', ')}`,
    },
    slot: { value: '<key:limit>', description: 'how many jobs of the key may run at once, as in driver:7:1' },
    'idempotency-key': {
      value: '<key>',
      description: 'repeating a call with the same key returns the same answer',
    },
  },
  run,
};

async function run(parsed: ParsedArgs, { api, out, readInput }: Tools): Promise<ExitCode> {
  const { owners, body } = await readRequest(parsed, readInput);
  const key = parsed.text('idempotency-key');
  try {
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': checkHeader(key) };
    const ticket = await api.post<Ticket>('/v1/jobs', { body, headers });
    out.answer(ticket, renderTicket);
    return 0;
  } catch (error) {
    if (isOutcomeUnknown(error) && key === undefined) {
      out.note(`The job may exist nevertheless. To check: mooring owner ${ownerWords(owners[0]!)}`);
    }
    throw error;
  }
}

async function readRequest(
  parsed: ParsedArgs,
  readInput: Tools['readInput'],
): Promise<{ owners: readonly string[]; body: object }> {
  const [kind] = words.read(parsed.words, enqueueCommand.example);
  const owners = parsed.list('owner');
  if (owners.length === 0) throw new WrongUsage('Name the owner of the job, as in --owner trip:42');
  for (const owner of owners) {
    const read = readOwner(owner);
    if ('wrong' in read) throw new WrongUsage(`--owner: ${read.wrong}.`);
  }
  const [delay, expiresIn] = [parsed.duration('delay'), parsed.duration('expires-in')];
  const priority = parsed.whole('priority', 1, 200);
  const [dedup, slot] = [readDedup(parsed.text('dedup')), readSlot(parsed.text('slot'))];
  const payload = await readPayload(parsed.text('payload') ?? '{}', readInput);
  // JSON omits the options that are undefined.
  return { owners, body: { kind, owners, payload, delay, expiresIn, priority, dedup, slot } };
}

async function readPayload(text: string, readInput: Tools['readInput']): Promise<unknown> {
  const isElsewhere = text === '-' || text.startsWith('@');
  const json = isElsewhere ? await readInput(text === '-' ? text : text.slice(1)) : text;
  try {
    return JSON.parse(json);
  } catch (error) {
    const why = (error as Error).message;
    throw new WrongUsage(`--payload is not JSON: ${why}.\nWrite --payload '{"ms":1}', or --payload @file.`);
  }
}

function readDedup(text: string | undefined): { strategy: string; key?: string } | undefined {
  if (text === undefined) return undefined;
  const [, strategy = '', key] = /^([^:]*)(?::(.*))?$/s.exec(text) ?? [];
  if (STRATEGIES.includes(strategy)) return { strategy, ...(key && { key }) };
  const wrong = `--dedup must begin with one of ${STRATEGIES.join(', ')}; got "${strategy}".`;
  throw new WrongUsage(`${wrong}${didYouMean(strategy, STRATEGIES)}`);
}

/** The limit follows the last colon, because keys may contain colons. */
function readSlot(text: string | undefined): { key: string; limit: number } | undefined {
  if (text === undefined) return undefined;
  const [, key, limit] = /^(.+):(\d+)$/s.exec(text) ?? [];
  if (key === undefined)
    throw new WrongUsage(`--slot must be a key and a limit, as in driver:7:1; got "${text}".`);
  return { key, limit: Number(limit) };
}

function checkHeader(key: string): string {
  if (/^[\x20-\x7e]+$/.test(key)) return key;
  throw new WrongUsage('--idempotency-key must consist of printable ASCII characters.');
}

function renderTicket({ outcome, id, kind, queue, owners, replaced }: Ticket, { paint }: Screen): string {
  const what = {
    created: `${paint('green', 'Created')} ${clean(id)}`,
    replaced: `${paint('green', 'Created')} ${clean(id)} in place of ${clean(replaced ?? 'another job')}`,
    skipped: `${paint('yellow', 'Skipped')}: ${clean(id)} is already pending`,
    coalesced: `${paint('yellow', 'Coalesced')} into the pending job ${clean(id)}`,
  }[outcome];
  return `${what}: ${clean(kind)} in queue ${clean(queue)}, for ${clean(owners.join(', '))}.
To follow it: mooring job ${quote(id)} --watch`;
}
