import type { Receipt } from '#client';
import type { JSX } from 'preact';
import { ofCancels } from '../data/events.js';
import { api } from '../data/session.js';
import { usePages } from '../data/use-pages.js';
import { filter, link, route } from '../router.js';
import { number } from '../ui/format.js';
import { OwnerLink } from '../ui/links.js';
import { List } from '../ui/list.js';
import { Empty, Page } from '../ui/parts.js';
import { State } from '../ui/state.js';
import type { Column } from '../ui/table.js';
import { Time } from '../ui/time.js';

const COLUMNS: readonly Column<Receipt>[] = [
  { name: 'Owner', cell: ({ owner }) => <OwnerLink name={owner} />, isLong: true },
  {
    name: 'Receipt',
    cell: ({ cancelId, done }) => (
      <a
        href={link(['cancellations', cancelId])}
        aria-label={`${done ? 'done' : 'running'}, receipt ${cancelId}`}
      >
        <State state={done ? 'done' : 'running'} />
      </a>
    ),
  },
  { name: 'Removed', cell: ({ removed }) => number(removed), isNumber: true },
  { name: 'Stopped', cell: ({ aborted }) => number(aborted), isNumber: true, isWide: true },
  { name: 'Reason', cell: ({ reason, why }) => reason || why, isLong: true, isWide: true },
  { name: 'By', cell: ({ by }) => by, isWide: true },
  { name: 'When', cell: ({ at }) => <Time at={at} />, isNumber: true },
];

export function CancellationsPage(): JSX.Element {
  const open = route.value.query.get('open') === 'true';
  const pages = usePages(
    async (cursor) => {
      const query = { limit: 50, ...(open && { open }), ...(cursor !== undefined && { cursor }) };
      const { cancellations, cursor: next } = await api.value.call('GET /v1/cancellations', { query });
      return { items: cancellations, cursor: next };
    },
    [open],
    { when: ofCancels },
  );
  return (
    <Page title="Cancellations">
      <nav class="tabs" aria-label="Which">
        <button type="button" aria-pressed={!open} onClick={() => filter({})}>
          all
        </button>
        <button type="button" aria-pressed={open} onClick={() => filter({ open: 'true' })}>
          not finished
        </button>
      </nav>
      <List
        label="Cancellations"
        pages={pages}
        columns={COLUMNS}
        keyOf={({ cancelId }) => cancelId}
        empty={
          <Empty title={open ? 'All cancellations are finished.' : 'Nothing was cancelled yet.'}>
            To cancel an owner, open it from <a href="#/owners">the list of owners</a>: you see what would go
            first.
          </Empty>
        }
      />
    </Page>
  );
}
