import type { Lease } from '#client';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ofJobs } from '../data/events.js';
import { api, can, isStatus } from '../data/session.js';
import { usePages } from '../data/use-pages.js';
import { filter, route } from '../router.js';
import { Action } from '../ui/action.js';
import { Dialog } from '../ui/dialog.js';
import { short } from '../ui/format.js';
import { OwnerLink } from '../ui/links.js';
import { List } from '../ui/list.js';
import { Empty, Page } from '../ui/parts.js';
import { State } from '../ui/state.js';
import type { Column } from '../ui/table.js';
import { Time } from '../ui/time.js';
import { TypedName } from '../ui/typed-name.js';

const STATES = ['', 'provisioning', 'running', 'ending', 'ended', 'failed', 'manual-cleanup'] as const;

const COLUMNS: readonly Column<Lease>[] = [
  {
    name: 'Lease',
    cell: ({ id }) => (
      <span class="mono" title={id}>
        {short(id)}
      </span>
    ),
  },
  { name: 'State', cell: ({ state }) => <State state={state} /> },
  { name: 'Image', cell: ({ image }) => image, isWide: true },
  { name: 'Owner', cell: ({ owner }) => owner && <OwnerLink name={owner} />, isWide: true },
  { name: 'Why', cell: ({ why, endedBy }) => why ?? endedBy, isLong: true, isWide: true },
  { name: 'Ends', cell: ({ endedAt, expiresAt }) => <Time at={endedAt ?? expiresAt} />, isNumber: true },
];

export function LeasesPage(): JSX.Element {
  const state = (route.value.query.get('state') ?? '') as (typeof STATES)[number];
  const pages = usePages(
    async (cursor) => {
      const query = { ...(state && { state }), ...(cursor !== undefined && { cursor }) };
      const { leases, cursor: next } = await api.value.call('GET /v1/leases', { query });
      return { items: leases, cursor: next };
    },
    [state],
    { when: ofJobs },
  );
  if (isStatus(pages.error, 404))
    return (
      <Page title="Leases">
        <Empty title="This application holds no leases.">They come with the workload of containers.</Empty>
      </Page>
    );
  const buttons: Column<Lease> = {
    name: 'Actions',
    isNumber: true,
    cell: (lease) => <Actions of={lease} reload={pages.reload} />,
  };
  return (
    <Page title="Leases">
      <nav class="tabs" aria-label="State">
        {STATES.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={state === each}
            onClick={() => filter({ state: each })}
          >
            {each || 'all'}
          </button>
        ))}
      </nav>
      <List
        label="Leases"
        pages={pages}
        columns={can('cancel') ? [...COLUMNS, buttons] : COLUMNS}
        keyOf={({ id }) => id}
        empty={
          <Empty title={state ? `No lease is ${state}.` : 'There are no leases.'}>
            Ask for a container: <code>POST /v1/leases</code> with an image and a duration.
          </Empty>
        }
      />
    </Page>
  );
}

function Actions({
  of: { id, state },
  reload,
}: {
  readonly of: Lease;
  readonly reload: () => void;
}): JSX.Element {
  const [isReleasing, setReleasing] = useState(false);
  const [typed, setTyped] = useState('');
  const path = { id };
  const act = (call: () => Promise<unknown>) => async (): Promise<void> => {
    await call();
    setReleasing(false);
    reload();
  };
  const end = act(() => api.value.call('DELETE /v1/leases/{id}', { path }));
  const cleanUp = act(() => api.value.call('POST /v1/leases/{id}/cleanup', { path, body: null }));
  const release = act(() =>
    api.value.call('POST /v1/leases/{id}/cleanup', { path, body: { release: true } }),
  );
  if (state === 'running' || state === 'provisioning')
    return (
      <Action run={end} done="It ends." tone="small">
        End
      </Action>
    );
  if (state !== 'manual-cleanup' || !can('admin')) return <></>;
  return (
    <>
      <Action run={cleanUp} done="Its container is removed again." tone="small">
        Try again
      </Action>
      <button type="button" class="small" onClick={() => setReleasing(true)}>
        Release…
      </button>
      {isReleasing && (
        <Dialog title="Release the lease" onClose={() => setReleasing(false)}>
          <p>Its engine is gone for good, and its container with it. Its place is freed without looking.</p>
          <TypedName name={short(id)} typed={typed} onType={setTyped} />
          <footer class="actions">
            <Action run={release} done="Its place is free." tone="danger" disabled={typed !== short(id)}>
              Release it
            </Action>
          </footer>
        </Dialog>
      )}
    </>
  );
}
