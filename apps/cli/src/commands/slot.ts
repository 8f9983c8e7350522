import type { Slot } from '../answers.js';
import type { Command } from '../command.js';
import { WrongUsage } from '../problems.js';
import { renderSlot } from '../render/slot.js';

const MAX_LIMIT = 10_000;

export const slot: Command = {
  name: 'slot',
  usage: ['slot <key>', 'slot <key> --limit <n>'],
  says: 'who holds the slots of a key that jobs name, and who waits; sets how many may run at once',
  options: { limit: { value: '<n>', says: `how many jobs of the key may run at once, up to ${MAX_LIMIT}` } },
  run: async (given, { api, out }) => {
    const path = `/v1/admin/slots/${encodeURIComponent(readKey(given.words))}`;
    const limit = given.whole('limit', 1, MAX_LIMIT);
    const answer =
      limit === undefined ? await api.get<Slot>(path) : await api.put<Slot>(path, { body: { limit } });
    if (out.isJson) out.json(answer);
    else out.print(renderSlot(answer, out.paint));
    return 0;
  },
};

function readKey(words: readonly string[]): string {
  const [key, ...rest] = words;
  if (key !== undefined && rest.length === 0) return key;
  throw new WrongUsage('Say which key, in one word, as in: mooring slot press');
}
