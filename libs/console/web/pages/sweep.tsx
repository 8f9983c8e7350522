import type { SweepWithLines } from '#client';
import type { JSX } from 'preact';
import { ofSweeps } from '../data/events.js';
import { api } from '../data/session.js';
import { useRead } from '../data/use-read.js';
import { link, ownerLink } from '../router.js';
import { duration, number } from '../ui/format.js';
import { Empty, Facts, Loading, Page, Panel, Stat, Trouble } from '../ui/parts.js';
import { State } from '../ui/state.js';
import { Table, type Column } from '../ui/table.js';
import { Time } from '../ui/time.js';

const LOOK_MS = 500;

type Line = SweepWithLines['lines'][number];

/** A sweep of orphans names owners. */
function columnsOf(sweep: string): readonly Column<Line>[] {
  return [
    {
      name: 'What',
      cell: ({ what }) =>
        sweep === 'orphans' ? <a href={ownerLink(what)}>{what}</a> : <span class="mono">{what}</span>,
    },
    { name: 'Why', cell: ({ why }) => why, isLong: true },
  ];
}

export function SweepPage({ id }: { readonly id: string }): JSX.Element {
  const read = useRead(() => api.value.call('GET /v1/admin/sweeps/{sweep}', { path: { sweep: id } }), [id], {
    when: ofSweeps,
    againInMs: ({ state }) => (state === 'asked' || state === 'running' ? LOOK_MS : undefined),
  });
  if (read.error && !read.data) return <Trouble error={read.error} retry={read.reload} />;
  if (!read.data) return <Loading />;
  const { sweep, dryRun, state, seen, removed, kept, unknown, failed, lines, cursor } = read.data;
  return (
    <Page
      title={
        <>
          Sweep: {sweep} <State state={state} />
        </>
      }
      actions={<a href={link(['sweeps'])}>All sweeps</a>}
    >
      {state === 'asked' && <p role="status">No janitor has started it yet.</p>}
      <dl class="stats">
        <Stat name="Seen" value={number(seen)} />
        <Stat name={dryRun ? 'Would be removed' : 'Removed'} value={number(removed)} />
        <Stat name="Kept" value={number(kept)} />
        <Stat name="Unknown, kept" value={number(unknown)} tone={unknown > 0 ? 'warn' : ''} />
        <Stat name="Failed" value={number(failed)} tone={failed > 0 ? 'bad' : ''} />
        <Stat name="With jobs" value={number(read.data.jobs)} />
      </dl>
      <Details of={read.data} />
      <Panel title={dryRun ? 'What it would remove' : 'What it removed'}>
        {lines.length === 0 ? (
          <Empty title="Nothing." />
        ) : (
          <Table label="Lines" columns={columnsOf(sweep)} rows={lines} keyOf={({ what }) => what} />
        )}
        {cursor !== null && <p class="quiet pad">These are the first {number(lines.length)}.</p>}
      </Panel>
    </Page>
  );
}

function Details({ of }: { readonly of: SweepWithLines }): JSX.Element {
  const { sweepId, onRequest, force, askedAt, endedAt, tookMs, worstStallMs, healed, why } = of;
  return (
    <Facts
      of={{
        Id: <span class="mono">{sweepId}</span>,
        Started: onRequest ? 'on request' : 'by its timer',
        Force: force ? 'yes' : undefined,
        Asked: <Time at={askedAt} />,
        Ended: endedAt && <Time at={endedAt} />,
        Took: duration(tookMs),
        'Longest stall of the store': `${worstStallMs.toFixed(1)} ms`,
        Healed: healed > 0 ? number(healed) : undefined,
        Why: why,
      }}
    />
  );
}
