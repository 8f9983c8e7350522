import type { History } from '#client';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ofJobs, ofOwners } from '../data/events.js';
import { api, can } from '../data/session.js';
import { usePages } from '../data/use-pages.js';
import { useRead } from '../data/use-read.js';
import { link } from '../router.js';
import { Action } from '../ui/action.js';
import { number } from '../ui/format.js';
import { JobLink } from '../ui/links.js';
import { List } from '../ui/list.js';
import { Empty, Facts, Loading, Page, Panel, Trouble } from '../ui/parts.js';
import { State } from '../ui/state.js';
import type { Column } from '../ui/table.js';
import { Time } from '../ui/time.js';
import { JOB_COLUMNS } from './jobs.js';
import { CancelDialog } from './cancel-dialog.js';

const COLUMNS = JOB_COLUMNS.filter(({ name }) => name !== 'Owner');

/** All of an owner: what is there, what was removed and why, and the button that ends it. */
export function OwnerPage({ type, id }: { readonly type: string; readonly id: string }): JSX.Element {
  const name = `${type}:${id}`;
  const path = { type, id };
  const owner = useRead(() => api.value.call('GET /v1/owners/{type}/{id}', { path }), [name], {
    when: ofOwners,
  });
  const jobs = usePages(
    async (cursor) => {
      const query = { owner: name, limit: 50, ...(cursor !== undefined && { cursor }) };
      const { jobs: items, cursor: next } = await api.value.call('GET /v1/jobs', { query });
      return { items, cursor: next };
    },
    [name],
    { when: ofJobs },
  );
  const [isCancelling, setCancelling] = useState(false);
  if (owner.error && !owner.data) return <Trouble error={owner.error} retry={owner.reload} />;
  if (!owner.data) return <Loading />;
  const { state, epoch, counts } = owner.data;

  const reopen = async (): Promise<void> => {
    await api.value.call('POST /v1/owners/{type}/{id}/reopen', { path });
    owner.reload();
  };
  const actions = can('cancel') && (
    <>
      {state === 'closed' && (
        <Action run={reopen} done={`${name} is open: new jobs are accepted. Old ones do not come back.`}>
          Reopen
        </Action>
      )}
      <button type="button" class="danger" onClick={() => setCancelling(true)}>
        Cancel owner…
      </button>
    </>
  );
  const title = (
    <>
      <span class="mono">{name}</span> <State state={state} />
    </>
  );
  return (
    <Page title={title} actions={actions}>
      <Facts
        of={{
          'Jobs not ended': number(counts.jobs),
          Running: number(counts.running),
          'Cancelled, still there': counts.ending > 0 ? number(counts.ending) : undefined,
          Epoch: epoch === null ? undefined : <span class="mono">{epoch}</span>,
        }}
      />
      <Panel title="Jobs" more={<a href={link(['jobs'], { owner: name })}>Filter and repair</a>}>
        <List
          label={`Jobs of ${name}`}
          pages={jobs}
          columns={COLUMNS}
          keyOf={(job) => job.id}
          empty={<Empty title="It has no jobs.">Jobs that were removed stand below.</Empty>}
        />
      </Panel>
      <Panel title="Removed before they ended">
        <Removed type={type} id={id} />
      </Panel>
      {isCancelling && <CancelDialog type={type} id={id} onClose={() => setCancelling(false)} />}
    </Page>
  );
}

type Entry = History['entries'][number];

const HISTORY: readonly Column<Entry>[] = [
  { name: 'Job', cell: ({ id }) => <JobLink id={id} /> },
  { name: 'Kind', cell: ({ kind }) => kind, isWide: true },
  { name: 'Was', cell: ({ state }) => <State state={state} />, isWide: true },
  {
    name: 'Why',
    cell: ({ why, reason, cancelId }) => (
      <>
        {cancelId ? <a href={link(['cancellations', cancelId])}>{why}</a> : why}{' '}
        <span class="quiet">{reason}</span>
      </>
    ),
    isLong: true,
  },
  { name: 'By', cell: ({ by }) => by, isWide: true },
  { name: 'When', cell: ({ at }) => <Time at={at} />, isNumber: true },
];

function Removed({ type, id }: { readonly type: string; readonly id: string }): JSX.Element {
  const pages = usePages(
    async (cursor) => {
      const query = cursor === undefined ? {} : { cursor };
      const { entries, cursor: next } = await api.value.call('GET /v1/owners/{type}/{id}/history', {
        path: { type, id },
        query,
      });
      return { items: entries, cursor: next };
    },
    [type, id],
    { when: ofOwners },
  );
  return (
    <List
      label="Removed jobs"
      pages={pages}
      columns={HISTORY}
      keyOf={(entry) => `${entry.id} ${entry.at}`}
      empty={<Empty title="No job of it was removed before it had ended." />}
    />
  );
}
