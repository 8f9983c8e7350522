import type { Command } from '../command.js';
import { formatOwner, ownerOfWords, ownerPath } from '../owner.name.js';
import { clean } from '../render/text.js';

export const reopen: Command = {
  name: 'reopen',
  usage: ['reopen <type> <id>'],
  says: 'accepts new work for a closed owner again; its old jobs stay dead',
  options: {},
  run: async ({ words }, { api, out }) => {
    const named = ownerOfWords(words);
    const answer = await api.post<unknown>(`${ownerPath(named)}/reopen`);
    if (out.isJson) out.json(answer);
    else {
      const name = out.paint('bold', clean(formatOwner(named)));
      out.print(`${name} is open: new work is accepted. What was cancelled stays so.`);
    }
    return 0;
  },
};
