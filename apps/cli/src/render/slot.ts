import type { Slot } from '../answers.js';
import type { Paint } from '../output.js';
import { clean } from './text.js';

const SHOWN = 10;

export function renderSlot({ key, limit, holding, holders, waiting, waiters }: Slot, paint: Paint): string {
  const name = paint('bold', clean(key));
  const limited =
    limit === null ? 'has no limit yet; the next job that uses it sets one' : `has a limit of ${limit}`;
  return [
    `${name} ${limited}.`,
    line(
      'hold a slot',
      holding,
      holders.map(({ jobId }) => jobId),
    ),
    line('wait', waiting, waiters),
  ].join('\n');
}

function line(what: string, count: number, jobs: readonly string[]): string {
  const shown = jobs.slice(0, SHOWN).map(clean).join(', ');
  const more = count > SHOWN ? `, and ${count - SHOWN} more` : '';
  return `${count} ${what}${count > 0 ? `: ${shown}${more}` : ''}`;
}
