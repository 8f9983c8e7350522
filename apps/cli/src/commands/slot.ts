import type { Slot } from '../answers.js';
import type { Command } from '../command.js';
import type { Paint } from '../output.js';
import { WrongUsage } from '../problems.js';
import { clean } from '../render/text.js';

const MAX_LIMIT = 10_000;

export const slotCommand: Command = {
  name: 'slot',
  usage: ['slot <key>', 'slot <key> --limit <n>'],
  description: 'show which jobs hold or wait for a slot key, or set its limit',
  options: {
    limit: { value: '<n>', description: `how many jobs of the key may run at once, up to ${MAX_LIMIT}` },
  },
  run: async (parsed, { api, out }) => {
    const path = `/v1/admin/slots/${encodeURIComponent(readKey(parsed.words))}`;
    const limit = parsed.whole('limit', 1, MAX_LIMIT);
    const answer =
      limit === undefined ? await api.get<Slot>(path) : await api.put<Slot>(path, { body: { limit } });
    out.answer(answer, renderSlot);
    return 0;
  },
};

function readKey(words: readonly string[]): string {
  const [key, ...rest] = words;
  if (key !== undefined && rest.length === 0) return key;
  throw new WrongUsage('Name one key, as in: mooring slot press');
}

const SHOWN = 10;

function renderSlot({ key, limit, holding, holders, waiting, waiters }: Slot, paint: Paint): string {
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
