/** The pages with a list, as the navigation and the search show them. `key` follows a `g`. */
export interface Place {
  readonly name: string;
  readonly path: string;
  readonly key?: string;
}

export const PLACES: readonly (readonly Place[])[] = [
  [
    { name: 'Overview', path: '', key: 'q' },
    { name: 'Jobs', path: 'jobs', key: 'j' },
    { name: 'Owners', path: 'owners', key: 'o' },
    { name: 'Cancellations', path: 'cancellations', key: 'c' },
  ],
  [
    { name: 'Operations', path: 'operations', key: 'p' },
    { name: 'Sweeps', path: 'sweeps', key: 's' },
    { name: 'Quarantine', path: 'quarantine' },
    { name: 'Audit', path: 'audit', key: 'a' },
  ],
  [
    { name: 'Schedules', path: 'schedules', key: 'd' },
    { name: 'Workers', path: 'workers', key: 'w' },
    { name: 'Leases', path: 'leases', key: 'l' },
    { name: 'Kinds', path: 'kinds', key: 'k' },
  ],
];

export const ALL_PLACES = PLACES.flat();
