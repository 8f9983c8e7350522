import type { ListedJob } from '#client';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ofJobs } from '../data/events.js';
import { api, can } from '../data/session.js';
import { usePages } from '../data/use-pages.js';
import { route } from '../router.js';
import { JobLink, OwnerLinks } from '../ui/links.js';
import { List } from '../ui/list.js';
import { Empty, Page } from '../ui/parts.js';
import { State } from '../ui/state.js';
import type { Column } from '../ui/table.js';
import { Time } from '../ui/time.js';
import { JobFilters } from './job-filters.js';
import { OperationDialog, type OperationAction } from './operation-dialog.js';

export const JOB_COLUMNS: readonly Column<ListedJob>[] = [
  { name: 'Job', cell: ({ id }) => <JobLink id={id} /> },
  { name: 'State', cell: ({ state }) => <State state={state} /> },
  { name: 'Kind', cell: ({ kind }) => kind, isWide: true },
  { name: 'Owner', cell: ({ owners }) => <OwnerLinks names={owners} />, isWide: true },
  {
    name: 'Error',
    cell: ({ error }) => <span title={error ?? ''}>{error}</span>,
    isLong: true,
    isWide: true,
  },
  { name: 'Tries', cell: ({ attempts }) => attempts, isNumber: true, isWide: true },
  {
    name: 'When',
    cell: ({ acceptedAt, beganAt, endedAt, dueAt }) => (
      <Time at={dueAt ?? endedAt ?? beganAt ?? acceptedAt} />
    ),
    isNumber: true,
  },
];

export interface JobFilter {
  readonly queue?: string;
  readonly kind?: string;
  readonly state?: ListedJob['state'];
  readonly owner?: string;
  readonly error?: string;
}

const FIELDS = ['queue', 'kind', 'state', 'owner', 'error'] as const;
const PENDING = ['waiting', 'delayed', 'retrying', 'running'];
const PAGE = 50;

export function JobsPage(): JSX.Element {
  const query = route.value.query;
  const filter = Object.fromEntries(
    FIELDS.map((name) => [name, query.get(name)]).filter(([, value]) => value),
  ) as JobFilter;
  const pages = usePages(
    async (cursor) => {
      const asked = { ...filter, limit: PAGE, ...(cursor !== undefined && { cursor }) };
      const { jobs, cursor: next } = await api.value.call('GET /v1/jobs', { query: asked });
      return { items: jobs, cursor: next };
    },
    [filter],
    { when: ofJobs },
  );
  const [action, setAction] = useState<OperationAction | undefined>(undefined);
  return (
    <Page title="Jobs" actions={<Bulk filter={filter} start={setAction} />}>
      <JobFilters filter={filter} />
      <List
        label="Jobs"
        pages={pages}
        columns={JOB_COLUMNS}
        keyOf={({ id }) => id}
        empty={<NoJobs filter={filter} />}
      />
      {action && <OperationDialog action={action} filter={filter} onClose={() => setAction(undefined)} />}
    </Page>
  );
}

/** Only what the key may do, and what can be done to jobs in this state. */
function Bulk({
  filter: { state },
  start,
}: {
  readonly filter: JobFilter;
  readonly start: (action: OperationAction) => void;
}): JSX.Element | null {
  if (!can('admin')) return null;
  return (
    <>
      {(state === undefined || state === 'failed') && (
        <button type="button" onClick={() => start('retry')}>
          Retry failed…
        </button>
      )}
      {can('cancel') && (state === undefined || PENDING.includes(state)) && (
        <button type="button" onClick={() => start('cancel')}>
          Cancel pending…
        </button>
      )}
      {(state === undefined || state === 'failed' || state === 'completed') && (
        <button type="button" onClick={() => start('remove')}>
          Remove ended…
        </button>
      )}
    </>
  );
}

function NoJobs({ filter }: { readonly filter: JobFilter }): JSX.Element {
  const isFiltered = Object.keys(filter).length > 0;
  if (isFiltered)
    return (
      <Empty title="No job matches these filters.">
        Remove a filter, or <a href="#/jobs">show all jobs</a>. Ended jobs are listed as long as their kind
        keeps them.
      </Empty>
    );
  return (
    <Empty title="There are no jobs yet.">
      Enqueue one: <code>POST /v1/jobs</code> with a kind, its owners and a payload. See{' '}
      <a href="#/kinds">the kinds</a> that this api knows.
    </Empty>
  );
}
