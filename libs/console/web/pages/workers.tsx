import type { Workers } from '#client';
import type { JSX } from 'preact';
import { ofQueues } from '../data/events.js';
import { api } from '../data/session.js';
import { useRead } from '../data/use-read.js';
import { number } from '../ui/format.js';
import { JobLink, OwnerLink } from '../ui/links.js';
import { Empty, Facts, Loading, Page, Panel, Trouble } from '../ui/parts.js';
import { State } from '../ui/state.js';
import { Table, type Column } from '../ui/table.js';
import { Time } from '../ui/time.js';

type Worker = Workers['workers'][number];
type Run = Worker['runs'][number];

const RUNS: readonly Column<Run>[] = [
  { name: 'Job', cell: ({ jobId }) => <JobLink id={jobId} /> },
  { name: 'Kind', cell: ({ kind }) => kind, isWide: true },
  { name: 'Owner', cell: ({ owner }) => <OwnerLink name={owner} />, isLong: true },
  { name: 'Try', cell: ({ attempt }) => attempt, isNumber: true, isWide: true },
  { name: 'Since', cell: ({ since }) => <Time at={since} />, isNumber: true },
];

export function WorkersPage(): JSX.Element {
  const read = useRead(() => api.value.call('GET /v1/workers'), [], { when: ofQueues });
  if (read.error && !read.data) return <Trouble error={read.error} retry={read.reload} />;
  if (!read.data) return <Loading />;
  const { workers } = read.data;
  return (
    <Page title="Workers">
      {workers.length === 0 && (
        <Empty title="No worker process runs.">
          Start one: <code>npm run start:worker</code>. A process is listed within ten seconds, and for 35 s
          after its last heartbeat.
        </Empty>
      )}
      {workers.map((worker) => (
        <WorkerPanel key={worker.id} of={worker} />
      ))}
    </Page>
  );
}

function WorkerPanel({ of: worker }: { readonly of: Worker }): JSX.Element {
  const { host, pid, version, state, startedAt, heartbeatAt, queues, running, runs } = worker;
  return (
    <Panel title={`${host} · ${pid}`} more={<State state={state} />}>
      <Facts
        of={{
          Runs: `${number(running)} of ${number(queues.reduce((sum, { concurrency }) => sum + concurrency, 0))}`,
          Queues: queues.map(({ queue, concurrency, kinds }) => (
            <span key={queue} class="chip" title={kinds.join(', ')}>
              {queue} <span class="quiet">{concurrency}</span>
            </span>
          )),
          Started: <Time at={startedAt} />,
          Heartbeat: <Time at={heartbeatAt} />,
          Version: version,
        }}
      />
      {runs.length > 0 && (
        <Table label={`What ${host} ${pid} runs`} columns={RUNS} rows={runs} keyOf={({ jobId }) => jobId} />
      )}
    </Panel>
  );
}
