import type { JSX } from 'preact';
import { ofCancels, ofQueues, ofSweeps } from '../data/events.js';
import { perSecond } from '../data/rates.js';
import { api } from '../data/session.js';
import { useRead } from '../data/use-read.js';
import { Throughput } from '../ui/chart.js';
import { number } from '../ui/format.js';
import { Loading, Page, Panel, Stat, Trouble } from '../ui/parts.js';
import { Attention, attentionTo } from './overview-attention.js';
import { QueueTable } from './overview-queues.js';

/** What a person wants to know first: is it well, and if not, where. */
export function OverviewPage(): JSX.Element {
  const queues = useRead(() => api.value.call('GET /v1/admin/queues'), [], { when: ofQueues });
  const workers = useRead(() => api.value.call('GET /v1/workers'), [], { when: ofQueues });
  const sweeps = useRead(() => api.value.call('GET /v1/admin/sweeps'), [], { when: ofSweeps });
  const open = useRead(
    () => api.value.call('GET /v1/cancellations', { query: { open: true, limit: 20 } }),
    [],
    { when: ofCancels },
  );
  if (queues.error && !queues.data) return <Trouble error={queues.error} retry={queues.reload} />;
  if (!queues.data) return <Loading />;

  const all = queues.data.queues;
  const sum = (...states: string[]): number =>
    all.reduce((total, { counts }) => total + states.reduce((n, state) => n + (counts[state] ?? 0), 0), 0);
  const processes = workers.data?.workers ?? [];
  const room = processes
    .flatMap((worker) => worker.queues)
    .reduce((total, { concurrency }) => total + concurrency, 0);
  const problems = attentionTo({
    queues: all,
    workers: workers.data?.workers,
    tripped: sweeps.data?.tripped ?? {},
    cancellations: open.data?.cancellations ?? [],
  });

  return (
    <Page title="Overview">
      <Attention problems={problems} />
      <dl class="stats">
        <Stat
          name="Running"
          value={number(sum('active'))}
          note={room > 0 ? `of ${number(room)}` : undefined}
        />
        <Stat name="Waiting" value={number(sum('waiting'))} />
        <Stat name="Delayed" value={number(sum('delayed'))} />
        <Stat name="Failed, kept" value={number(sum('failed'))} tone={sum('failed') > 0 ? 'bad' : ''} />
        <Stat name="Completed" value={perSecond('completed').toFixed(1)} note="per second" />
        <Stat name="Workers" value={number(processes.length)} tone={processes.length === 0 ? 'bad' : ''} />
      </dl>
      <Panel title="Jobs that ended" more={<span class="quiet">while this page is open</span>}>
        <Throughput />
      </Panel>
      <Panel title="Queues">
        <QueueTable queues={all} reload={queues.reload} />
      </Panel>
    </Page>
  );
}
