import type { Receipt } from '../answers.js';
import type { Command } from '../command.js';
import { onlyWord, WrongUsage } from '../problems.js';
import { renderReceipt } from '../render/receipt.js';

export const receipt: Command = {
  name: 'receipt',
  usage: ['receipt <cancelId>'],
  description: 'show the current state of a cancellation',
  options: {},
  run: async ({ words }, { api, out }) => {
    const missing = 'Name the cancelId, as printed by cancel.';
    const id = onlyWord(words, 'receipt', missing);
    if (id === '.' || id === '..') throw new WrongUsage(missing);
    const found = await api.get<Receipt>(`/v1/cancellations/${encodeURIComponent(id)}`);
    out.answer(found, (answer, paint) => renderReceipt(answer, true, paint));
    return 0;
  },
};
