import { pathTo } from '../api.js';
import type { Operation, Operations } from '../answers.js';
import type { OptionSpecs, ParsedArgs } from '../arguments.js';
import { ask } from '../ask.js';
import { type Column, tableOf } from '../columns.js';
import type { Command, ExitCode, Tools } from '../command.js';
import { follow } from '../follow.js';
import { list, queryOf } from '../list.js';
import type { Screen } from '../output.js';
import { facts, sections } from '../render/table.js';
import { clean } from '../render/text.js';
import { named, oneOf } from '../words.js';
import { JOB_FILTERS } from './jobs.js';

const PATH = '/v1/operations';
const ACTIONS = oneOf('action', ['retry', 'cancel', 'remove']);
const POLL_EVERY_MS = 500;

export const OPERATION_FILTERS: OptionSpecs = {
  ...JOB_FILTERS,
  before: { value: '<time>', description: 'only jobs that ended before, as in 2026-11-20T08:00:00Z' },
};
export const DRY_RUN: OptionSpecs = {
  'dry-run': { description: 'only count the jobs, by kind and error, and show samples' },
};
/** What the counts of an operation mean. */
export const COUNTS =
  'Counts: seen, the jobs it has looked at; matched, those of them that the filters name; done, those it has changed; refused, those that must not be changed; failed, those it could not change; skipped, those that had changed when their turn came.';
const FOLLOW: OptionSpecs = {
  watch: { description: 'follow it until it ends; exit code 0 only if no job failed or was refused' },
};

export const operationsCommand = list<Operations, 'operations'>({
  name: 'operations',
  description: 'list operations, newest first',
  example: 'operations',
  pages: 'cursor',
  columns: [
    'operation:operationId',
    ['action', ({ action, dryRun }) => (dryRun ? `${action} (dry run)` : action)],
    ...(['state', 'matched', 'done', 'refused?', 'failed?', 'by?', 'age:startedAt?'] as const),
    ['filter', filterOf, 'cut'],
  ],
});

export const startCommand: Command = {
  name: 'operations start',
  words: ACTIONS,
  forms: [`${ACTIONS.usage} [filters] [--dry-run] [--watch]`],
  description: 'retry, cancel or remove many jobs in the background',
  example: "operations start retry --kind media.thumbnail --error 'timed out' --dry-run --watch",
  options: { ...OPERATION_FILTERS, ...DRY_RUN, ...FOLLOW },
  more: `Without a filter it is about all jobs that the action can be applied to. Try --dry-run first.\n\n${COUNTS}`,
  run: async (parsed, tools) => {
    const [action] = ACTIONS.read(parsed.words, startCommand.example);
    const operationId = await start(action!, parsed, tools);
    if (parsed.has('watch')) return followOperation(operationId, tools);
    tools.out.answer(
      { operationId },
      () => `Operation ${operationId} started.\nTo follow it: mooring operations show ${operationId} --watch`,
    );
    return 0;
  },
};

const operationId = named('operationId');

export const operationCommand: Command = {
  name: 'operations show',
  words: operationId,
  forms: [`${operationId.usage} [--watch]`],
  description: 'show an operation, and the jobs that it could not change',
  example: 'operations show op-2Rt… --watch',
  options: FOLLOW,
  more: COUNTS,
  run: async (parsed, tools) => {
    const [id] = operationId.read(parsed.words, operationCommand.example);
    if (parsed.has('watch')) return followOperation(id!, tools);
    tools.out.answer(await tools.api.get<Operation>(pathTo`/v1/operations/${id!}`), renderOperation);
    return 0;
  },
};

export const stopCommand = ask<Operation>({
  name: 'operations stop',
  description: 'stop an operation after the page that it is at',
  example: 'operations stop op-2Rt…',
  words: operationId,
  call: (api, [id]) => api.delete(pathTo`/v1/operations/${id!}`),
  render: renderOperation,
});

/** Starts an operation over the jobs that the filters name, and follows it. */
export async function operate(action: string, parsed: ParsedArgs, tools: Tools): Promise<ExitCode> {
  return followOperation(await start(action, parsed, tools), tools);
}

async function start(action: string, parsed: ParsedArgs, { api }: Tools): Promise<string> {
  const filter = queryOf(parsed, OPERATION_FILTERS);
  const body = { action, filter, dryRun: parsed.has('dry-run') };
  return (await api.post<{ operationId: string }>(PATH, { body })).operationId;
}

async function followOperation(id: string, { api, out }: Tools): Promise<ExitCode> {
  if (!out.isJson) out.note(`Following operation ${clean(id)}. It continues if you press Ctrl-C.`);
  const ended = await follow({
    poll: () => api.get<Operation>(pathTo`/v1/operations/${id}`),
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

function filterOf({ filter }: Operation): string {
  return Object.entries(filter)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}

export function renderOperation(operation: Operation, screen: Screen): string {
  const { action, state, dryRun, why, by, startedAt, endedAt, samples, groups = [], problems } = operation;
  const { matched, done, refused, failed, skipped, seen } = operation;
  const word = screen.paint(wentWell(operation) ? 'green' : 'yellow', clean(state));
  const because = why ? ` (${clean(why).replace(/\.$/, '')})` : '';
  const sentence = `Operation ${clean(operation.operationId)} (${action}): ${word}${because}.`;
  return sections(
    dryRun ? `${sentence} Dry run: nothing was changed.` : sentence,
    facts(
      [
        ['filter', filterOf(operation) || 'none'],
        ['by', `${by}, at ${startedAt}`],
        ['ended', endedAt],
        ['seen', seen],
        ['matched', matched],
        ['done', done],
        ['refused', refused || undefined],
        ['failed', failed || undefined],
        ['skipped', skipped || undefined],
      ],
      screen,
    ),
    groups.length > 0 ? tableOf(groups, GROUP_COLUMNS, screen) : '',
    dryRun && samples.length > 0 ? tableOf(samples, SAMPLE_COLUMNS, screen) : '',
    problems.length > 0 ? tableOf(problems, PROBLEM_COLUMNS, screen) : '',
  );
}

const SAMPLE_COLUMNS: readonly Column<Operation['samples'][number]>[] = [
  'sample:id',
  'kind',
  'state',
  'owners?',
  'error~',
];
const GROUP_COLUMNS: readonly Column<NonNullable<Operation['groups']>[number]>[] = [
  'count',
  'kind',
  'error~',
];
const PROBLEM_COLUMNS: readonly Column<Operation['problems'][number]>[] = ['job:id', 'code', 'why~'];
