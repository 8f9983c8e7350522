import { pathTo } from '../api.js';
import type { Slot } from '../answers.js';
import { ask } from '../ask.js';
import type { Screen } from '../output.js';
import { clean } from '../render/text.js';
import { named } from '../words.js';

const MAX_LIMIT = 10_000;

export const slotCommand = ask<Slot>({
  name: 'slot',
  description: 'show which jobs hold or wait for a slot key, or set its limit',
  example: 'slot press --limit 2',
  words: named('key'),
  options: {
    limit: { value: '<n>', description: `how many jobs of the key may run at once, up to ${MAX_LIMIT}` },
  },
  call: (api, [key], parsed) => {
    const limit = parsed.whole('limit', 1, MAX_LIMIT);
    const at = pathTo`/v1/admin/slots/${key!}`;
    return limit === undefined ? api.get(at) : api.put(at, { body: { limit } });
  },
  render: renderSlot,
});

const SHOWN = 10;

function renderSlot({ key, limit, holding, holders, waiting, waiters }: Slot, { paint }: Screen): string {
  const name = paint('bold', clean(key));
  const limited =
    limit === null ? 'has no limit yet; the next job that uses it sets one' : `has a limit of ${limit}`;
  const holderIds = holders.map(({ jobId }) => jobId);
  return [
    `${name} ${limited}.`,
    line('hold a slot', holding, holderIds),
    line('wait', waiting, waiters),
  ].join('\n');
}

function line(what: string, count: number, jobs: readonly string[]): string {
  const shown = jobs.slice(0, SHOWN).map(clean).join(', ');
  const more = count > SHOWN ? `, and ${count - SHOWN} more` : '';
  return `${count} ${what}${count > 0 ? `: ${shown}${more}` : ''}`;
}
