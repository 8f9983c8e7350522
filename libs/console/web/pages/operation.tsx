import type { Operation } from '#client';
import type { JSX } from 'preact';
import { api, can } from '../data/session.js';
import { useRead } from '../data/use-read.js';
import { Action } from '../ui/action.js';
import { number } from '../ui/format.js';
import { JobLink } from '../ui/links.js';
import { Facts, Loading, Page, Panel, Stat, Trouble } from '../ui/parts.js';
import { State } from '../ui/state.js';
import { Table, type Column } from '../ui/table.js';
import { Time } from '../ui/time.js';
import { hasEnded } from './operation-dialog.js';
import { filterText } from './operations.js';

const LOOK_MS = 500;

type Problem = Operation['problems'][number];

const PROBLEMS: readonly Column<Problem>[] = [
  { name: 'Job', cell: ({ id }) => <JobLink id={id} /> },
  { name: 'Outcome', cell: ({ outcome }) => <State state={outcome} /> },
  { name: 'Code', cell: ({ code }) => code, isWide: true },
  { name: 'Why', cell: ({ why }) => why, isLong: true },
];

export function OperationPage({ id }: { readonly id: string }): JSX.Element {
  const path = { operationId: id };
  const read = useRead(() => api.value.call('GET /v1/operations/{operationId}', { path }), [id], {
    againInMs: (operation) => (hasEnded(operation) ? undefined : LOOK_MS),
  });
  if (read.error && !read.data) return <Trouble error={read.error} retry={read.reload} />;
  if (!read.data) return <Loading />;
  const { action, dryRun, state, matched, done, refused, failed, skipped, problems } = read.data;
  const stop = async (): Promise<void> => {
    await api.value.call('DELETE /v1/operations/{operationId}', { path });
    read.reload();
  };
  return (
    <Page
      title={
        <>
          {dryRun ? `Count for ${action}` : `${action[0]!.toUpperCase()}${action.slice(1)} jobs`}{' '}
          <State state={state} />
        </>
      }
      actions={
        !hasEnded(read.data) &&
        can('admin') && (
          <Action
            run={stop}
            done="It stops after this page. What it has changed stays changed."
            tone="danger"
          >
            Stop
          </Action>
        )
      }
    >
      <dl class="stats">
        <Stat name="Looked at" value={number(read.data.seen)} />
        <Stat name="Matched" value={number(matched)} />
        <Stat name="Done" value={number(done)} tone="good" />
        <Stat name="Refused" value={number(refused)} tone={refused > 0 ? 'warn' : ''} />
        <Stat name="Failed" value={number(failed)} tone={failed > 0 ? 'bad' : ''} />
        <Stat name="Changed meanwhile" value={number(skipped)} />
      </dl>
      {problems.length > 0 && (
        <Panel title="Refused and failed">
          <Table
            label="Refused and failed jobs"
            columns={PROBLEMS}
            rows={problems}
            keyOf={(problem) => problem.id}
          />
        </Panel>
      )}
      <Details of={read.data} />
    </Page>
  );
}

function Details({
  of: { operationId, filter, by, startedAt, endedAt, why },
}: {
  readonly of: Operation;
}): JSX.Element {
  return (
    <Facts
      of={{
        Of: filterText(filter),
        Id: <span class="mono">{operationId}</span>,
        By: by,
        Started: <Time at={startedAt} />,
        Ended: endedAt && <Time at={endedAt} />,
        Why: why,
      }}
    />
  );
}
