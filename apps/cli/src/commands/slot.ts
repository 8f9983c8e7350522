import type { Slot } from '../answers.js';
import type { Command } from '../command.js';
import { WrongUsage } from '../problems.js';
import { renderSlot } from '../render/slot.js';

const MAX_LIMIT = 10_000;

export const slot: Command = {
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
