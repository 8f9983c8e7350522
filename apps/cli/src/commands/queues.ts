import type { Queues } from '../answers.js';
import type { Command } from '../command.js';
import { noWords } from '../problems.js';
import { renderQueues } from '../render/queues.js';

export const QUEUES_PATH = '/v1/admin/queues';

export const queues: Command = {
  name: 'queues',
  usage: ['queues'],
  description: 'show the job counts of each queue and how long its oldest waiting job has been due',
  options: {},
  run: async ({ words }, { api, out }) => {
    noWords(words);
    out.answer(await api.get<Queues>(QUEUES_PATH), renderQueues);
    return 0;
  },
};
