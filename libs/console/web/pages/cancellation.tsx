import type { Receipt } from '#client';
import type { JSX } from 'preact';
import { ofCancels } from '../data/events.js';
import { api } from '../data/session.js';
import { useRead } from '../data/use-read.js';
import { number } from '../ui/format.js';
import { JobLink, OwnerLink } from '../ui/links.js';
import { Facts, Loading, Page, Panel, Stat, Trouble } from '../ui/parts.js';
import { State } from '../ui/state.js';
import { Time } from '../ui/time.js';
import { ByQueue } from './receipt-table.js';

/** One receipt is small; it is read again until it is final. */
const LOOK_MS = 500;

export function CancellationPage({ id }: { readonly id: string }): JSX.Element {
  const read = useRead(
    () => api.value.call('GET /v1/cancellations/{cancelId}', { path: { cancelId: id } }),
    [id],
    { when: ofCancels, againInMs: ({ done }) => (done ? undefined : LOOK_MS) },
  );
  if (read.error && !read.data) return <Trouble error={read.error} retry={read.reload} />;
  if (!read.data) return <Loading />;
  const { owner, job, removed, aborted, acknowledged, ignored, running, done } = read.data;
  return (
    <Page
      title={
        <>
          Cancelled {job ? 'job of ' : ''}
          <OwnerLink name={owner} /> <State state={done ? 'done' : 'running'} />
        </>
      }
    >
      <Stopping receipt={read.data} />
      <dl class="stats">
        <Stat name="Jobs removed" value={number(removed)} />
        <Stat name="Runs told to stop" value={number(aborted)} />
        <Stat name="Stopped when told" value={number(acknowledged)} tone="good" />
        <Stat name="Abandoned" value={number(ignored)} tone={ignored > 0 ? 'warn' : ''} />
        <Stat name="Still running" value={number(running)} tone={running > 0 ? 'warn' : ''} />
      </dl>
      <Panel title="By queue and state">
        <ByQueue receipt={read.data} />
        {removed + aborted === 0 && <p class="quiet pad">It had no jobs.</p>}
      </Panel>
      <Details receipt={read.data} job={job} />
    </Page>
  );
}

function Stopping({
  receipt: { aborted, running, done },
}: {
  readonly receipt: Receipt;
}): JSX.Element | null {
  if (aborted === 0 && done) return null;
  const text = done
    ? 'All its jobs have left.'
    : running > 0
      ? `${number(running)} still running: they were told to stop.`
      : 'The last of its jobs are leaving.';
  return (
    <div class="filling">
      <progress
        max={Math.max(aborted, 1)}
        value={done ? Math.max(aborted, 1) : aborted - running}
        aria-label="Runs that stopped"
      />
      <span role="status">{text}</span>
    </div>
  );
}

function Details({
  receipt,
  job,
}: {
  readonly receipt: Receipt;
  readonly job: string | undefined;
}): JSX.Element {
  const { cancelId, epoch, reason, by, at, closed, schedules, durable, why } = receipt;
  return (
    <Panel title="Receipt">
      <Facts
        of={{
          Id: <span class="mono">{cancelId}</span>,
          Job: job && <JobLink id={job} />,
          When: <Time at={at} />,
          By: by,
          Reason: reason,
          Why: why === 'orphan' ? 'The orphan sweep found that its owner is gone' : undefined,
          'New jobs': closed ? 'refused until it is reopened' : 'accepted',
          'Schedules ended': schedules > 0 ? number(schedules) : undefined,
          Durable: durable ? 'yes' : undefined,
          Epoch: epoch === null ? undefined : <span class="mono">{epoch}</span>,
        }}
      />
    </Panel>
  );
}
