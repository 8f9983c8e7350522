import type { Sweep, SweepOrder, Sweeps } from '#client';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ofSweeps } from '../data/events.js';
import { api, can } from '../data/session.js';
import { useRead } from '../data/use-read.js';
import { go, link } from '../router.js';
import { Action } from '../ui/action.js';
import { Dialog } from '../ui/dialog.js';
import { duration, number } from '../ui/format.js';
import { Empty, Loading, Page, Panel, Trouble } from '../ui/parts.js';
import { State } from '../ui/state.js';
import { Table, type Column } from '../ui/table.js';
import { Time } from '../ui/time.js';
import { TypedName } from '../ui/typed-name.js';

type Kind = Sweep['sweep'];

const DUTIES: Readonly<Record<Kind, string>> = {
  orphans: 'cancels the jobs of owners that no longer exist',
  expiry: 'removes jobs that were not started in time',
  retention: 'removes ended jobs that are older than their kind keeps them',
  artifacts: 'removes artifacts that have no job',
  leases: 'ends leases whose time is over',
  repair: 'heals what a process left unfinished when it died',
};

const COLUMNS: readonly Column<Sweep>[] = [
  {
    name: 'Sweep',
    cell: ({ sweepId, sweep, dryRun }) => (
      <a class="strong" href={link(['sweeps', sweepId])}>
        {sweep}
        {dryRun && <span class="quiet"> dry run</span>}
      </a>
    ),
  },
  { name: 'State', cell: ({ state }) => <State state={state} /> },
  { name: 'Seen', cell: ({ seen }) => number(seen), isNumber: true, isWide: true },
  { name: 'Removed', cell: ({ removed }) => number(removed), isNumber: true },
  { name: 'Unknown', cell: ({ unknown }) => number(unknown), isNumber: true, isWide: true },
  { name: 'Failed', cell: ({ failed }) => number(failed), isNumber: true, isWide: true },
  { name: 'Took', cell: ({ tookMs }) => duration(tookMs), isNumber: true, isWide: true },
  { name: 'When', cell: ({ askedAt, endedAt }) => <Time at={endedAt ?? askedAt} />, isNumber: true },
];

export async function order(sweep: Kind, body: SweepOrder): Promise<void> {
  const { sweepId } = await api.value.call('POST /v1/admin/sweeps/{sweep}', { path: { sweep }, body });
  go(link(['sweeps', sweepId]));
}

export function SweepsPage(): JSX.Element {
  const read = useRead(() => api.value.call('GET /v1/admin/sweeps'), [], { when: ofSweeps });
  if (read.error && !read.data) return <Trouble error={read.error} retry={read.reload} />;
  if (!read.data) return <Loading />;
  const { sweeps, tripped } = read.data;
  return (
    <Page title="Sweeps">
      {Object.entries(tripped).map(([kind, trip]) => (
        <TrippedSweep key={kind} kind={kind as Kind} trip={trip} />
      ))}
      <Panel title="Records">
        {sweeps.length === 0 ? (
          <Empty title="No sweep has run yet.">
            Sweeps are run by a janitor, on a timer. Start one, or ask for a dry run.
          </Empty>
        ) : (
          <Table label="Sweeps" columns={COLUMNS} rows={sweeps} keyOf={({ sweepId }) => sweepId} />
        )}
      </Panel>
      <Panel title="Kinds">
        <ul class="rows">
          {(Object.keys(DUTIES) as Kind[]).map((kind) => (
            <li key={kind}>
              <span class="strong">{kind}</span> <span class="quiet grow">{DUTIES[kind]}</span>
              {can('admin') && (
                <span class="actions">
                  <Action run={() => order(kind, { dryRun: true })} tone="small">
                    Dry run
                  </Action>
                  <Action run={() => order(kind, {})} tone="small">
                    Run now
                  </Action>
                </span>
              )}
            </li>
          ))}
        </ul>
      </Panel>
    </Page>
  );
}

/** A tripped sweep removes nothing until a person has looked. */
function TrippedSweep({
  kind,
  trip,
}: {
  readonly kind: Kind;
  readonly trip: Sweeps['tripped'][string];
}): JSX.Element {
  const [isForcing, setForcing] = useState(false);
  const [typed, setTyped] = useState('');
  return (
    <section class="tripped" aria-label={`The ${kind} sweep tripped`}>
      <h2>The {kind} sweep tripped</h2>
      <p>
        {trip.why} <a href={link(['sweeps', trip.sweepId])}>See what it would have removed</a> (
        <Time at={trip.at} />
        ).
      </p>
      <p class="quiet">
        It removes nothing until you decide. <b>Acknowledge</b> if the cause is fixed: it may remove again,
        within its limit. <b>Force</b> if all of it must go: this once, the limit does not hold.
      </p>
      {can('admin') && (
        <p class="actions">
          <Action run={() => order(kind, { dryRun: true })}>Dry run</Action>
          <Action run={() => order(kind, { acknowledge: true })} tone="primary">
            Acknowledge
          </Action>
          <button type="button" class="danger" onClick={() => setForcing(true)}>
            Force…
          </button>
        </p>
      )}
      {isForcing && (
        <Dialog title={`Force the ${kind} sweep`} onClose={() => setForcing(false)}>
          <p>{trip.why}</p>
          <p>With force it removes all of this at once.</p>
          <TypedName name={kind} typed={typed} onType={setTyped} />
          <footer class="actions">
            <Action run={() => order(kind, { force: true })} tone="danger" disabled={typed !== kind}>
              Force the {kind} sweep
            </Action>
          </footer>
        </Dialog>
      )}
    </section>
  );
}
