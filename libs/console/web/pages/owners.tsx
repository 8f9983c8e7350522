import type { Owners } from '#client';
import type { JSX } from 'preact';
import { ofOwners } from '../data/events.js';
import { api } from '../data/session.js';
import { usePages } from '../data/use-pages.js';
import { filter, route } from '../router.js';
import { duration, number } from '../ui/format.js';
import { OwnerLink } from '../ui/links.js';
import { List } from '../ui/list.js';
import { Empty, Page } from '../ui/parts.js';
import { State } from '../ui/state.js';
import type { Column } from '../ui/table.js';
import { Typed } from './job-filters.js';

type Listed = Owners['owners'][number];

/** Of an owner with very many jobs, not all are looked at. */
const some = ({ counts, lookedAt }: Listed): string => (lookedAt < counts.jobs ? '≥ ' : '');

const COLUMNS: readonly Column<Listed>[] = [
  { name: 'Owner', cell: ({ owner }) => <OwnerLink name={owner} />, isLong: true },
  { name: 'State', cell: ({ state }) => <State state={state} /> },
  { name: 'Jobs', cell: ({ counts }) => number(counts.jobs), isNumber: true },
  { name: 'Running', cell: (one) => some(one) + number(one.counts.running), isNumber: true, isWide: true },
  {
    name: 'Oldest job',
    cell: (one) =>
      one.oldestJobMs === null ? <span class="quiet">–</span> : some(one) + duration(one.oldestJobMs),
    isNumber: true,
    isWide: true,
  },
];

export function OwnersPage(): JSX.Element {
  const { query } = route.value;
  const prefix = query.get('prefix') ?? '';
  const state = query.get('state') ?? '';
  const pages = usePages(
    async (cursor) => {
      const { owners, cursor: next } = await api.value.call('GET /v1/owners', {
        query: {
          limit: 50,
          ...(prefix && { prefix }),
          ...(state && { state: state as Listed['state'] }),
          ...(cursor !== undefined && { cursor }),
        },
      });
      return { items: owners, cursor: next };
    },
    [prefix, state],
    { when: ofOwners },
  );
  return (
    <Page title="Owners">
      <form
        class="filters"
        role="search"
        aria-label="Find owners"
        onSubmit={(event) => event.preventDefault()}
      >
        <Typed
          name="prefix"
          hint="Name begins with, as in trip:4"
          value={prefix}
          onValue={(text) => filter({ prefix: text, state })}
        />
        <nav class="tabs" aria-label="State">
          {['', 'open', 'closed'].map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={state === each}
              onClick={() => filter({ prefix, state: each })}
            >
              {each || 'all'}
            </button>
          ))}
        </nav>
      </form>
      <List
        label="Owners"
        pages={pages}
        columns={COLUMNS}
        keyOf={({ owner }) => owner}
        empty={
          <Empty title={prefix || state ? 'No owner matches.' : 'There are no owners yet.'}>
            An owner is listed while it has jobs or is closed. Names are searched from their beginning, in
            upper and lower case as they are.
          </Empty>
        }
      />
    </Page>
  );
}
