/** What the scripts keep beside their key. */
export const ENDINGS = [
  '',
  ':runs',
  ':dedup',
  ':late',
  ':done',
  ':reap',
  ':waiters',
  ':cancels',
  ':cancel:c0',
  ':cancel:c1',
  ':c0',
  ':untold',
  ':history',
  ':at',
  ':schedules',
  ':s1',
];
