import { nearestName } from '#nearest-name';
import type { Operation, Operations } from '../answers.js';
import type { ParsedArgs } from '../arguments.js';
import type { Command, ExitCode, Tools } from '../command.js';
import { follow } from '../follow.js';
import type { Paint } from '../output.js';
import { noWords, onlyWord, WrongUsage } from '../problems.js';
import { facts, table } from '../render/table.js';
import { clean } from '../render/text.js';

const PATH = '/v1/operations';
const VERBS = ['start', 'list', 'show', 'stop'];
const ACTIONS = ['retry', 'cancel', 'remove'];
const FILTERS = ['queue', 'kind', 'state', 'owner', 'error', 'before'];
const POLL_EVERY_MS = 500;

export const operationsCommand: Command = {
  name: 'operations',
  usage: [
    `operations start <${ACTIONS.join('|')}> [--queue …] [--dry-run] [--watch]`,
    'operations list',
    'operations show <operationId> [--watch]',
    'operations stop <operationId>',
  ],
  description: 'retry, cancel or remove many jobs in the background',
  options: {
    queue: { value: '<queue>', description: 'start: only jobs of this queue' },
    kind: { value: '<kind>', description: 'start: only jobs of this kind' },
    state: { value: '<state>', description: 'start: only jobs in this state' },
    owner: { value: '<type:id>', description: 'start: only jobs of this owner' },
    error: { value: '<text>', description: 'start: only jobs whose failure contains this text' },
    before: {
      value: '<time>',
      description: 'start: only jobs that ended before, as in 2026-11-20T08:00:00Z',
    },
    'dry-run': { description: 'start: only count the jobs and show samples' },
    watch: { description: 'follow it until it ends; exit code 0 only if no job failed or was refused' },
  },
  more: 'Without a filter it is about all jobs that the action can be applied to. Try --dry-run first.',
  run: (parsed, tools) => {
    const [verb = '', ...words] = parsed.words;
    switch (verb) {
      case 'start':
        return start(words, parsed, tools);
      case 'list':
        return list(words, parsed, tools);
      case 'show':
        return show(words, parsed, tools);
      case 'stop':
        return stop(words, parsed, tools);
      default:
        throw new WrongUsage(`Name what to do: ${VERBS.join(', ')}${hint(verb, VERBS)}`);
    }
  },
};

async function start(words: readonly string[], parsed: ParsedArgs, tools: Tools): Promise<ExitCode> {
  const missing = `Name the action: ${ACTIONS.join(', ')}.`;
  const action = onlyWord(words, 'action', missing);
  if (!ACTIONS.includes(action))
    throw new WrongUsage(`Name the action: ${ACTIONS.join(', ')}${hint(action, ACTIONS)}`);
  const pairs = FILTERS.flatMap((name) => {
    const text = parsed.text(name);
    return text === undefined ? [] : [[name, text] as const];
  });
  const body = { action, filter: Object.fromEntries(pairs), dryRun: parsed.has('dry-run') };
  const { operationId } = await tools.api.post<{ operationId: string }>(PATH, { body });
  if (parsed.has('watch')) return watch(operationId, tools);
  tools.out.answer(
    { operationId },
    () => `Operation ${operationId} started.\nTo follow it: mooring operations show ${operationId} --watch`,
  );
  return 0;
}

async function list(words: readonly string[], parsed: ParsedArgs, { api, out }: Tools): Promise<ExitCode> {
  noWords(words);
  noFilter(parsed, ['watch']);
  out.answer(await api.get<Operations>(PATH), renderOperations);
  return 0;
}

async function show(words: readonly string[], parsed: ParsedArgs, tools: Tools): Promise<ExitCode> {
  noFilter(parsed);
  const id = readId(words);
  if (parsed.has('watch')) return watch(id, tools);
  tools.out.answer(await tools.api.get<Operation>(pathOf(id)), renderOperation);
  return 0;
}

async function stop(words: readonly string[], parsed: ParsedArgs, { api, out }: Tools): Promise<ExitCode> {
  noFilter(parsed, ['watch']);
  out.answer(await api.delete<Operation>(pathOf(readId(words))), renderOperation);
  return 0;
}

async function watch(id: string, { api, out }: Tools): Promise<ExitCode> {
  if (!out.isJson) out.note(`Following operation ${clean(id)}. It continues if you press Ctrl-C.`);
  const ended = await follow({
    poll: () => api.get<Operation>(pathOf(id)),
    everyMs: POLL_EVERY_MS,
    show: ({ state, matched, done }) => out.live(`${clean(state)}: ${matched} matched, ${done} done`),
    hasEnded: ({ state }) => ['done', 'stopped', 'failed'].includes(state),
  });
  out.answer(ended, renderOperation);
  return wentWell(ended) ? 0 : 1;
}

function wentWell({ state, failed, refused }: Operation): boolean {
  return state === 'done' && failed + refused === 0;
}

function readId(words: readonly string[]): string {
  const missing = 'Name the operation by its id, as printed by operations start.';
  const id = onlyWord(words, 'operation', missing);
  if (id === '.' || id === '..') throw new WrongUsage(missing);
  return id;
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}

/** Options that would have no effect are refused. */
function noFilter(parsed: ParsedArgs, more: readonly string[] = []): void {
  const wrong = [...FILTERS, 'dry-run', ...more].find((name) => parsed.has(name));
  if (wrong) throw new WrongUsage(`--${wrong} has no effect here.`);
}

function hint(word: string, known: readonly string[]): string {
  if (word === '') return '.';
  const near = nearestName(word, known, 3);
  return `; got "${word}".${near ? ` Did you mean ${near}?` : ''}`;
}

export function renderOperation(operation: Operation, paint: Paint): string {
  const { operationId, action, state, dryRun, why, filter, by, startedAt, endedAt } = operation;
  const { matched, done, refused, failed, skipped, seen, samples, problems } = operation;
  const word = paint(wentWell(operation) ? 'green' : 'yellow', clean(state));
  const sentence = `Operation ${clean(operationId)} (${action}): ${word}${why ? ` (${clean(why).replace(/\.$/, '')})` : ''}.`;
  const named = Object.entries(filter).map(([name, value]) => `${name} ${value}`);
  return [
    dryRun ? `${sentence} Dry run: nothing was changed.` : sentence,
    facts(
      [
        ['filter', named.join(', ') || 'none'],
        ['by', `${by}, at ${startedAt}`],
        ['ended', endedAt],
        ['seen', seen],
        ['matched', matched],
        ['done', done],
        ['refused', refused || undefined],
        ['failed', failed || undefined],
        ['skipped', skipped || undefined],
      ],
      paint,
    ),
    dryRun && samples.length > 0
      ? table(
          ['sample', 'kind', 'state', 'owners', 'error'],
          samples.map((job) => [job.id, job.kind, job.state, job.owners.join(', '), job.error ?? '']),
          paint,
        )
      : '',
    problems.length > 0
      ? table(
          ['job', 'code', 'why'],
          problems.map(({ id, code, why: told }) => [id, code, told]),
          paint,
        )
      : '',
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function renderOperations({ operations }: Operations, paint: Paint): string {
  if (operations.length === 0) return 'There are no operations.';
  return table(
    ['operation', 'action', 'state', 'matched', 'done', 'refused', 'failed', 'by', 'started'],
    operations.map(
      ({ operationId, action, dryRun, state, matched, done, refused, failed, by, startedAt }) => [
        operationId,
        dryRun ? `${action} (dry run)` : action,
        state,
        matched,
        done,
        refused,
        failed,
        by,
        startedAt,
      ],
    ),
    paint,
  );
}
