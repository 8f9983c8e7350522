import type { JSX } from 'preact';
import { AuditPage } from './pages/audit.js';
import { CancellationPage } from './pages/cancellation.js';
import { CancellationsPage } from './pages/cancellations.js';
import { FlowPage } from './pages/flow.js';
import { JobPage } from './pages/job.js';
import { JobsPage } from './pages/jobs.js';
import { KindsPage } from './pages/kinds.js';
import { LeasesPage } from './pages/leases.js';
import { OperationPage } from './pages/operation.js';
import { OperationsPage } from './pages/operations.js';
import { OverviewPage } from './pages/overview.js';
import { OwnerPage } from './pages/owner.js';
import { OwnersPage } from './pages/owners.js';
import { QuarantinePage } from './pages/quarantine.js';
import { SchedulesPage } from './pages/schedules.js';
import { SweepPage } from './pages/sweep.js';
import { SweepsPage } from './pages/sweeps.js';
import { WorkersPage } from './pages/workers.js';
import { Empty, Page } from './ui/parts.js';

const LISTS: Readonly<Record<string, () => JSX.Element>> = {
  '': OverviewPage,
  jobs: JobsPage,
  owners: OwnersPage,
  cancellations: CancellationsPage,
  operations: OperationsPage,
  sweeps: SweepsPage,
  schedules: SchedulesPage,
  workers: WorkersPage,
  quarantine: QuarantinePage,
  audit: AuditPage,
  leases: LeasesPage,
  kinds: KindsPage,
};

const ITEMS: Readonly<Record<string, (props: { id: string }) => JSX.Element>> = {
  jobs: JobPage,
  cancellations: CancellationPage,
  operations: OperationPage,
  sweeps: SweepPage,
  flows: FlowPage,
};

export function pageOf([first = '', id, more]: readonly string[]): JSX.Element {
  if (first === 'owners' && id !== undefined && more !== undefined) return <OwnerPage type={id} id={more} />;
  const Item = ITEMS[first];
  if (Item && id !== undefined) return <Item id={id} />;
  const List = LISTS[first];
  if (List && id === undefined) return <List />;
  return (
    <Page title="Not here">
      <Empty title="There is no such page.">
        Go to <a href="#/">the overview</a>, or press <kbd>/</kbd> to find something.
      </Empty>
    </Page>
  );
}
