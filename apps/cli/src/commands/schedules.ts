import { pathTo } from '../api.js';
import type { Schedule, Schedules } from '../answers.js';
import { ask } from '../ask.js';
import { list } from '../list.js';
import { span } from '../render/text.js';
import { named } from '../words.js';

export const schedulesCommand = list<Schedules, 'schedules'>({
  name: 'schedules',
  description: 'list schedules',
  example: 'schedules',
  pages: 'cursor',
  columns: [
    ...(['schedule:id', 'kind', 'owners~'] as const),
    ['when', whenOf],
    ...(['next:nextAt', 'last:lastAt?', 'last job:lastJobId?'] as const),
  ],
});

export const unscheduleCommand = ask<object>({
  name: 'schedules delete',
  description: 'delete a schedule; jobs that it created continue',
  example: 'schedules delete nightly',
  words: named('scheduleId'),
  call: async (api, [id]) => {
    await api.delete(pathTo`/v1/schedules/${id!}`);
    return { id, deleted: true };
  },
  render: () => 'The schedule is deleted. Jobs that it created continue.',
});

function whenOf({ every, cron, timezone }: Schedule): string {
  if (cron !== null) return `${cron}${timezone ? ` (${timezone})` : ''}`;
  return `every ${typeof every === 'number' ? span(every) : every}`;
}
