import { nearestName } from '#nearest-name';
import type { Ticket } from '../answers.js';
import type { Given } from '../arguments.js';
import type { Command, ExitCode, Tools } from '../command.js';
import type { Paint } from '../output.js';
import { readOwner } from '../owner.name.js';
import { isInDoubt, WrongUsage } from '../problems.js';
import { ownerWords } from '../render/receipt.js';
import { clean, quote } from '../render/text.js';

const STRATEGIES = ['none', 'skip', 'replace', 'coalesce'];

export const enqueue: Command = {
  name: 'enqueue',
  usage: ['enqueue <kind> --owner <type:id> [--payload <json>]'],
  says: 'asks for a job',
  options: {
    owner: { value: '<type:id>', many: true, says: 'what the job is for, as in trip:42; up to four' },
    payload: { value: '<json>', says: '\'{"ms":1}\', @file, or - for what is piped in; default {}' },
    delay: { value: '<duration>', says: 'how long it waits first, as in 5m' },
    'expires-in': { value: '<duration>', says: 'how long after now it may still start' },
    priority: { value: '<1-200>', says: '1 is the most urgent; default 100' },
    dedup: { value: '<strategy[:key]>', says: `while its twin is pending: ${STRATEGIES.join(', ')}` },
    slot: { value: '<key:limit>', says: 'at most so many jobs of that key run at once, as in driver:7:1' },
    'idempotency-key': { value: '<key>', says: 'the same key again gets the same answer' },
  },
  run,
};

async function run(given: Given, { api, out, readInput }: Tools): Promise<ExitCode> {
  const { owners, body } = await readRequest(given, readInput);
  const key = given.text('idempotency-key');
  try {
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': checkHeader(key) };
    const ticket = await api.post<Ticket>('/v1/jobs', { body, headers });
    if (out.isJson) out.json(ticket);
    else out.print(renderTicket(ticket, out.paint));
    return 0;
  } catch (error) {
    if (isInDoubt(error) && key === undefined) {
      out.note(`The job may exist nevertheless; this says: mooring owner ${ownerWords(owners[0]!)}`);
    }
    throw error;
  }
}

async function readRequest(
  given: Given,
  readInput: Tools['readInput'],
): Promise<{ owners: readonly string[]; body: object }> {
  const [kind, ...rest] = given.words;
  if (kind === undefined)
    throw new WrongUsage('Say which kind of job: mooring enqueue <kind> --owner trip:42');
  if (rest.length > 0) throw new WrongUsage(`One kind at a time: "${rest.join(' ')}" is too much.`);
  const owners = given.list('owner');
  if (owners.length === 0) throw new WrongUsage('Say whose job it is, as in --owner trip:42');
  for (const owner of owners) {
    const read = readOwner(owner);
    if ('wrong' in read) throw new WrongUsage(`--owner: ${read.wrong}.`);
  }
  const [delay, expiresIn] = [given.duration('delay'), given.duration('expires-in')];
  const priority = given.whole('priority', 1, 200);
  const [dedup, slot] = [readDedup(given.text('dedup')), readSlot(given.text('slot'))];
  const payload = await readPayload(given.text('payload') ?? '{}', readInput);
  // What was not said is undefined, and JSON leaves it out.
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
  const near = nearestName(strategy, STRATEGIES, 3);
  throw new WrongUsage(
    `--dedup begins with one of ${STRATEGIES.join(', ')}; got "${strategy}".${near ? ` Did you mean ${near}?` : ''}`,
  );
}

/** The limit stands behind the last colon: keys have colons of their own. */
function readSlot(text: string | undefined): { key: string; limit: number } | undefined {
  if (text === undefined) return undefined;
  const [, key, limit] = /^(.+):(\d+)$/s.exec(text) ?? [];
  if (key === undefined)
    throw new WrongUsage(`--slot is a key and a limit, as in driver:7:1; got "${text}".`);
  return { key, limit: Number(limit) };
}

function checkHeader(key: string): string {
  if (/^[\x20-\x7e]+$/.test(key)) return key;
  throw new WrongUsage('--idempotency-key is made of plain letters, digits and signs.');
}

export function renderTicket({ outcome, id, kind, queue, owners, replaced }: Ticket, paint: Paint): string {
  const what = {
    created: `${paint('green', 'Created')} ${clean(id)}`,
    replaced: `${paint('green', 'Created')} ${clean(id)} in the place of ${clean(replaced ?? 'another')}`,
    skipped: `${paint('yellow', 'Skipped')}: ${clean(id)} is pending, and does it already`,
    coalesced: `${paint('yellow', 'Coalesced')} into ${clean(id)}, which is pending`,
  }[outcome];
  return `${what}: ${clean(kind)} in queue ${clean(queue)}, for ${clean(owners.join(', '))}.
Follow it: mooring job ${quote(id)} --watch`;
}
