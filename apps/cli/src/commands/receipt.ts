import type { Receipt } from '../answers.js';
import type { Command } from '../command.js';
import { WrongUsage } from '../problems.js';
import { renderReceipt } from '../render/receipt.js';

export const receipt: Command = {
  name: 'receipt',
  usage: ['receipt <cancelId>'],
  says: 'a cancellation, as it stands now',
  options: {},
  run: async ({ words }, { api, out }) => {
    const [id, ...rest] = words;
    if (!id || id === '.' || id === '..')
      throw new WrongUsage('Say which: the cancelId, as cancel printed it.');
    if (rest.length > 0) throw new WrongUsage(`One receipt at a time: "${rest.join(' ')}" is too much.`);
    const found = await api.get<Receipt>(`/v1/cancellations/${encodeURIComponent(id)}`);
    if (out.isJson) out.json(found);
    else out.print(renderReceipt(found, true, out.paint));
    return 0;
  },
};
