import type { Receipt } from '../answers.js';
import type { Command } from '../command.js';
import { WrongUsage } from '../problems.js';
import { renderReceipt } from '../render/receipt.js';

export const receipt: Command = {
  name: 'receipt',
  usage: ['receipt <cancelId>'],
  description: 'show the current state of a cancellation',
  options: {},
  run: async ({ words }, { api, out }) => {
    const [id, ...rest] = words;
    if (!id || id === '.' || id === '..') throw new WrongUsage('Name the cancelId, as printed by cancel.');
    if (rest.length > 0) throw new WrongUsage(`Name one receipt only; "${rest.join(' ')}" is too much.`);
    const found = await api.get<Receipt>(`/v1/cancellations/${encodeURIComponent(id)}`);
    if (out.isJson) out.json(found);
    else out.print(renderReceipt(found, true, out.paint));
    return 0;
  },
};
