import { path } from '../api.js';
import type { Schedule, Schedules } from '../answers.js';
import { ask } from '../ask.js';
import { type Column, factsOf } from '../columns.js';
import { list } from '../list.js';
import { span } from '../render/text.js';
import { named } from '../words.js';

const COLUMNS: readonly Column<Schedule>[] = [
  ...(['schedule:id', 'kind', 'owners~'] as const),
  ['when', whenOf],
  ...(['next:nextAt', 'last:lastAt?', 'last job:lastJobId?'] as const),
];
const words = named('scheduleId');

export const schedulesCommand = list<Schedules, 'schedules'>({
  name: 'schedules',
  description: 'list schedules',
  example: 'schedules',
  path: () => '/v1/schedules',
  key: 'schedules',
  pages: 'cursor',
  columns: COLUMNS,
  empty: 'There are no schedules.',
});

export const scheduleCommand = ask<Schedule>({
  name: 'schedules show',
  description: 'show a schedule',
  example: 'schedules show nightly',
  words,
  canWatch: true,
  call: (api, [id]) => api.get(path`/v1/schedules/${id!}`),
  render: (schedule, screen) => factsOf(schedule, COLUMNS, screen),
});

export const unscheduleCommand = ask<object>({
  name: 'schedules delete',
  description: 'delete a schedule; jobs that it created continue',
  example: 'schedules delete nightly',
  words,
  call: async (api, [id]) => {
    await api.delete(path`/v1/schedules/${id!}`);
    return { id, deleted: true };
  },
  render: () => 'The schedule is deleted. Jobs that it created continue.',
});

function whenOf({ every, cron, timezone }: Schedule): string {
  if (cron !== null) return `${cron}${timezone ? ` (${timezone})` : ''}`;
  return `every ${typeof every === 'number' ? span(every) : every}`;
}
