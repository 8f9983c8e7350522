import type { Operation } from '#client';
import type { JSX } from 'preact';
import { ofQueues } from '../data/events.js';
import { api } from '../data/session.js';
import { usePages } from '../data/use-pages.js';
import { link } from '../router.js';
import { number } from '../ui/format.js';
import { List } from '../ui/list.js';
import { Empty, Page } from '../ui/parts.js';
import { State } from '../ui/state.js';
import type { Column } from '../ui/table.js';
import { Time } from '../ui/time.js';

export function filterText(filter: Readonly<Record<string, string>>): string {
  const parts = Object.entries(filter).map(([name, value]) => `${name} ${value}`);
  return parts.join(', ') || 'all jobs';
}

const COLUMNS: readonly Column<Operation>[] = [
  {
    name: 'Operation',
    cell: ({ operationId, action, dryRun }) => (
      <a class="strong" href={link(['operations', operationId])}>
        {dryRun ? `count for ${action}` : action}
      </a>
    ),
  },
  { name: 'State', cell: ({ state }) => <State state={state} /> },
  { name: 'Of', cell: ({ filter }) => filterText(filter), isLong: true, isWide: true },
  { name: 'Matched', cell: ({ matched }) => number(matched), isNumber: true },
  { name: 'Done', cell: ({ done }) => number(done), isNumber: true },
  { name: 'By', cell: ({ by }) => by, isWide: true },
  { name: 'Started', cell: ({ startedAt }) => <Time at={startedAt} />, isNumber: true },
];

export function OperationsPage(): JSX.Element {
  const pages = usePages(
    async (cursor) => {
      const query = cursor === undefined ? {} : { cursor };
      const { operations, cursor: next } = await api.value.call('GET /v1/operations', { query });
      return { items: operations, cursor: next };
    },
    [],
    { when: ofQueues },
  );
  return (
    <Page title="Operations">
      <List
        label="Operations"
        pages={pages}
        columns={COLUMNS}
        keyOf={({ operationId }) => operationId}
        empty={
          <Empty title="There are no operations yet.">
            Filter <a href="#/jobs?state=failed">the failed jobs</a>, then retry or remove all that match.
          </Empty>
        }
      />
    </Page>
  );
}
