import type { Queues } from '#client';
import type { JSX } from 'preact';
import { api, can } from '../data/session.js';
import { link } from '../router.js';
import { Action } from '../ui/action.js';
import { duration, number } from '../ui/format.js';
import { Empty } from '../ui/parts.js';
import { State } from '../ui/state.js';
import { Table, type Column } from '../ui/table.js';

type Queue = Queues['queues'][number];

/** A count that leads to its jobs; zero stands back. */
function count(counted: string, state: string, isWide = false): (name: string) => Column<Queue> {
  return (name) => ({
    name,
    isNumber: true,
    isWide,
    cell: ({ queue, counts }) => {
      const value = counts[counted] ?? 0;
      if (value === 0) return <span class="quiet">0</span>;
      return (
        <a class={state === 'failed' ? 'bad' : ''} href={link(['jobs'], { queue, state })}>
          {number(value)}
        </a>
      );
    },
  });
}

const COLUMNS: readonly Column<Queue>[] = [
  {
    name: 'Queue',
    isLong: true,
    cell: ({ queue, paused }) => (
      <>
        <a class="strong" href={link(['jobs'], { queue })}>
          {queue}
        </a>{' '}
        {paused && <State state="paused" />}
      </>
    ),
  },
  count('waiting', 'waiting')('Waiting'),
  count('active', 'running')('Running'),
  count('delayed', 'delayed', true)('Delayed'),
  count('failed', 'failed')('Failed'),
  count('completed', 'completed', true)('Completed'),
  {
    name: 'Oldest waits',
    isNumber: true,
    isWide: true,
    cell: ({ oldestWaitingMs: age }) =>
      age === null ? <span class="quiet">–</span> : duration(Math.max(age, 1)),
  },
];

export function QueueTable({
  queues,
  reload,
}: {
  readonly queues: readonly Queue[];
  readonly reload: () => void;
}): JSX.Element {
  if (queues.length === 0) return <Empty title="This application has no queues." />;
  const buttons: Column<Queue> = {
    name: 'Actions',
    isNumber: true,
    isWide: true,
    cell: (queue) => <Pause of={queue} reload={reload} />,
  };
  const columns = can('admin') ? [...COLUMNS, buttons] : COLUMNS;
  return <Table label="Queues" columns={columns} rows={queues} keyOf={({ queue }) => queue} />;
}

function Pause({
  of: { queue, paused },
  reload,
}: {
  readonly of: Queue;
  readonly reload: () => void;
}): JSX.Element {
  const run = async (): Promise<void> => {
    const call = paused ? 'POST /v1/admin/queues/{queue}/resume' : 'POST /v1/admin/queues/{queue}/pause';
    await api.value.call(call, { path: { queue } });
    reload();
  };
  const done = paused
    ? `“${queue}” is resumed.`
    : `“${queue}” is paused: no job of it starts. Running ones go on.`;
  return (
    <Action run={run} done={done} tone="small plain">
      {paused ? 'Resume' : 'Pause'}
    </Action>
  );
}
