import type { Quarantine } from '#client';
import type { JSX } from 'preact';
import { ofSweeps } from '../data/events.js';
import { api, can } from '../data/session.js';
import { usePages } from '../data/use-pages.js';
import { Action } from '../ui/action.js';
import { JobLink } from '../ui/links.js';
import { List } from '../ui/list.js';
import { Empty, Page } from '../ui/parts.js';
import type { Column } from '../ui/table.js';
import { Time } from '../ui/time.js';
import { order } from './sweeps.js';

const COLUMNS: readonly Column<Quarantine['jobs'][number]>[] = [
  { name: 'Job', cell: ({ jobId }) => <JobLink id={jobId} /> },
  { name: 'Why', cell: ({ why }) => why, isLong: true },
  { name: 'Since', cell: ({ at }) => <Time at={at} />, isNumber: true },
];

/** Ended jobs that the retention sweep could not remove. */
export function QuarantinePage(): JSX.Element {
  const pages = usePages(
    async (cursor) => {
      const query = cursor === undefined ? {} : { cursor };
      const { jobs, cursor: next } = await api.value.call('GET /v1/admin/quarantine', { query });
      return { items: jobs, cursor: next };
    },
    [],
    { when: ofSweeps },
  );
  const hasJobs = (pages.items?.length ?? 0) > 0;
  return (
    <Page
      title="Quarantine"
      actions={
        hasJobs &&
        can('admin') && <Action run={() => order('retention', { force: true })}>Try again with force</Action>
      }
    >
      <List
        label="Quarantine"
        pages={pages}
        columns={COLUMNS}
        keyOf={({ jobId }) => jobId}
        empty={
          <Empty title="Nothing is in quarantine.">
            An ended job comes here if the retention sweep cannot remove it, for instance because its
            artifacts cannot be removed.
          </Empty>
        }
      />
    </Page>
  );
}
