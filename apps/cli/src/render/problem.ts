import type { Screen } from '../output.js';
import { Refused, type WrongUsage } from '../problems.js';
import { clean, cleanLines } from './text.js';

export function renderProblem(error: Error, { paint }: Screen): string {
  const head = `${paint('red', 'mooring:')} ${cleanLines(error.message)}`;
  if (!(error instanceof Refused)) return head;
  const { problem, status, retryAfter } = error;
  const facts = [
    ...(problem ? [`code ${clean(problem.code)} (${status})`] : []),
    ...(problem?.requestId ? [`requestId ${clean(problem.requestId)}`] : []),
  ];
  return [
    head,
    ...(facts.length > 0 ? [`  ${paint('dim', facts.join(', '))}`] : []),
    ...hint(status, retryAfter),
  ].join('\n');
}

function hint(status: number, retryAfter: string | undefined): string[] {
  if (status === 401) return ['  Set the key with MOORING_KEY or --key.'];
  if (retryAfter !== undefined) return [`  Try again in ${clean(retryAfter)} s.`];
  return [];
}

export function renderWrongUsage({ message, command }: WrongUsage, { paint }: Screen): string {
  const help = command === undefined ? 'mooring --help' : `mooring ${command} --help`;
  return `${paint('red', 'mooring:')} ${cleanLines(message)}\nSee: ${help}`;
}
