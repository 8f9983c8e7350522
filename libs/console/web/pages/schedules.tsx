import type { Schedule } from '#client';
import type { JSX } from 'preact';
import { ofJobs } from '../data/events.js';
import { api, can } from '../data/session.js';
import { usePages } from '../data/use-pages.js';
import { Action } from '../ui/action.js';
import { duration } from '../ui/format.js';
import { JobLink, OwnerLinks } from '../ui/links.js';
import { List } from '../ui/list.js';
import { Empty, Page } from '../ui/parts.js';
import type { Column } from '../ui/table.js';
import { Time } from '../ui/time.js';

const COLUMNS: readonly Column<Schedule>[] = [
  { name: 'Schedule', cell: ({ id }) => <span class="mono">{id}</span> },
  { name: 'Kind', cell: ({ kind }) => kind, isWide: true },
  { name: 'Owner', cell: ({ owners }) => <OwnerLinks names={owners} /> },
  {
    name: 'Due',
    cell: ({ every, cron, timezone }) =>
      cron === null
        ? `every ${typeof every === 'number' ? duration(every) : every}`
        : `${cron} ${timezone ?? ''}`,
    isWide: true,
    isLong: true,
  },
  { name: 'Last job', cell: ({ lastJobId }) => lastJobId && <JobLink id={lastJobId} />, isWide: true },
  { name: 'Next', cell: ({ nextAt }) => <Time at={nextAt} />, isNumber: true },
];

export function SchedulesPage(): JSX.Element {
  const pages = usePages(
    async (cursor) => {
      const query = cursor === undefined ? {} : { cursor };
      const { schedules, cursor: next } = await api.value.call('GET /v1/schedules', { query });
      return { items: schedules, cursor: next };
    },
    [],
    { when: ofJobs },
  );
  const remove = async (id: string): Promise<void> => {
    await api.value.call('DELETE /v1/schedules/{id}', { path: { id } });
    pages.reload();
  };
  const buttons: Column<Schedule> = {
    name: 'Actions',
    isNumber: true,
    isWide: true,
    cell: ({ id }) => (
      <Action run={() => remove(id)} done={`The schedule ${id} is deleted. Its jobs stay.`} tone="small">
        Delete
      </Action>
    ),
  };
  return (
    <Page title="Schedules">
      <List
        label="Schedules"
        pages={pages}
        columns={can('enqueue') ? [...COLUMNS, buttons] : COLUMNS}
        keyOf={({ id }) => id}
        empty={
          <Empty title="There are no schedules.">
            Create one: <code>PUT /v1/schedules/{'{id}'}</code> with a kind, its owners, and{' '}
            <code>every</code> or <code>cron</code>. It ends with its owners.
          </Empty>
        }
      />
    </Page>
  );
}
