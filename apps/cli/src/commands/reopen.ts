import type { Command } from '../command.js';
import { formatOwner, ownerOfWords, ownerPath } from '../owner-name.js';
import { clean } from '../render/text.js';

export const reopen: Command = {
  name: 'reopen',
  usage: ['reopen <type> <id>'],
  description: 'let a closed owner accept new work again; its cancelled jobs stay cancelled',
  options: {},
  run: async ({ words }, { api, out }) => {
    const named = ownerOfWords(words);
    const answer = await api.post<unknown>(`${ownerPath(named)}/reopen`);
    out.answer(answer, (_answer, paint) => {
      const name = paint('bold', clean(formatOwner(named)));
      return `${name} is open and accepts new work. Cancelled jobs stay cancelled.`;
    });
    return 0;
  },
};
