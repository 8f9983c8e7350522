import { COMMON_ERROR, LARGE_OWNER, RARE_ERROR } from './fill.js';
import { BUSY, ENDED, MAIL, ORDERS, PLAIN } from './find.app.js';

/** A list: its path, and the name of what it answers. */
export interface List {
  readonly path: string;
  readonly items: string;
  /** It has no pages. */
  readonly isWhole?: boolean;
}

const jobs = (filter: Readonly<Record<string, string>> = {}): List => ({
  path: `/v1/jobs?${new URLSearchParams(filter)}`,
  items: 'jobs',
});

export const LISTS: readonly List[] = [
  jobs(),
  ...[ORDERS, MAIL, PLAIN, ENDED, BUSY].map((queue) => jobs({ queue })),
  jobs({ kind: 'orders.urgent' }),
  ...['waiting', 'delayed', 'retrying', 'running', 'completed', 'failed', 'removed'].map((state) =>
    jobs({ state }),
  ),
  jobs({ queue: ORDERS, state: 'waiting' }),
  jobs({ owner: 'trip:77' }),
  jobs({ owner: LARGE_OWNER }),
  jobs({ owner: LARGE_OWNER, state: 'waiting', kind: 'orders.normal' }),
  jobs({ owner: 'trip:77', state: 'failed' }),
  jobs({ owner: 'late:5', state: 'removed' }),
  jobs({ error: COMMON_ERROR }),
  jobs({ error: RARE_ERROR }),
  jobs({ state: 'failed', error: RARE_ERROR }),
  jobs({ queue: ORDERS, error: RARE_ERROR }),
  jobs({ queue: ENDED, kind: 'ended.urgent', state: 'failed', error: COMMON_ERROR }),
  { path: '/v1/owners?', items: 'owners' },
  { path: '/v1/owners?type=trip', items: 'owners' },
  { path: '/v1/owners?type=trip&prefix=7', items: 'owners' },
  { path: '/v1/owners?state=closed', items: 'owners' },
  { path: '/v1/cancellations?', items: 'cancellations' },
  { path: '/v1/cancellations?open=true', items: 'cancellations' },
  { path: '/v1/cancellations?open=false', items: 'cancellations' },
  { path: '/v1/schedules?', items: 'schedules' },
  { path: '/v1/kinds', items: 'kinds', isWhole: true },
  { path: '/v1/workers', items: 'workers', isWhole: true },
];
