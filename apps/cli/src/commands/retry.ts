import type { Job } from '../answers.js';
import type { Command } from '../command.js';
import { jobPath, renderJob } from './job.js';

export const retryCommand: Command = {
  name: 'retry',
  usage: ['retry <jobId> [--reset]'],
  description: 'let a failed job wait again',
  options: { reset: { description: 'count its attempts from 0 again' } },
  run: async (parsed, { api, out }) => {
    const body = parsed.has('reset') ? { reset: true } : {};
    out.answer(await api.post<Job>(`${jobPath(parsed.words)}/retry`, { body }), renderJob);
    return 0;
  },
};
