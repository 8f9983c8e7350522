import type { AnswerOf } from '#client';
import type { JSX } from 'preact';
import { ofQueues } from '../data/events.js';
import { api } from '../data/session.js';
import { usePages } from '../data/use-pages.js';
import { filter, route } from '../router.js';
import { List } from '../ui/list.js';
import { Empty, Page } from '../ui/parts.js';
import { State } from '../ui/state.js';
import type { Column } from '../ui/table.js';
import { Time } from '../ui/time.js';
import { Typed } from './job-filters.js';

type Entry = AnswerOf<'GET /v1/admin/audit'>['entries'][number];

const COLUMNS: readonly Column<Entry>[] = [
  { name: 'Who', cell: ({ who }) => <span class="strong">{who}</span> },
  { name: 'What', cell: ({ what }) => what },
  { name: 'On', cell: ({ on }) => <span class="mono">{on}</span>, isLong: true },
  { name: 'Outcome', cell: ({ outcome }) => <State state={outcome} />, isWide: true },
  { name: 'From', cell: ({ address }) => address, isWide: true },
  {
    name: 'Request',
    cell: ({ requestId }) => <span class="mono quiet">{requestId.slice(0, 8)}</span>,
    isWide: true,
  },
  { name: 'When', cell: ({ at }) => <Time at={at} />, isNumber: true },
];

/** What callers changed, and what they were refused. */
export function AuditPage(): JSX.Element {
  const { query } = route.value;
  const [who, what] = [query.get('who') ?? '', query.get('what') ?? ''];
  const pages = usePages(
    async (cursor) => {
      const asked = { ...(who && { who }), ...(what && { what }), ...(cursor !== undefined && { cursor }) };
      const { entries, cursor: next } = await api.value.call('GET /v1/admin/audit', { query: asked });
      return { items: entries, cursor: next };
    },
    [who, what],
    { when: ofQueues },
  );
  return (
    <Page title="Audit">
      <form class="filters" role="search" aria-label="Filter" onSubmit={(event) => event.preventDefault()}>
        <Typed name="who" hint="Name of a key" value={who} onValue={(text) => filter({ who: text, what })} />
        <Typed
          name="what"
          hint="What, as in owner.cancel"
          value={what}
          onValue={(text) => filter({ who, what: text })}
        />
      </form>
      <List
        label="Audit log"
        pages={pages}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          <Empty title={who || what ? 'No entry matches.' : 'Nothing was changed yet.'}>
            Each call that changes something or is refused has an entry here, except enqueues.
          </Empty>
        }
      />
    </Page>
  );
}
