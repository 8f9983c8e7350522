import type { Backlog } from './backlog.js';
import type { Compared } from './compared.js';

export function table(
  figures: readonly Compared[],
  backlogs: readonly Backlog[],
  missed: readonly string[],
): string {
  const lines = [
    row(['', 'ours', 'plain', 'ours / plain', 'wanted']),
    ...figures.map((one) =>
      row([one.question, amount(one.ours, one), amount(one.plain, one), spread(one), wanted(one)]),
    ),
    '',
    row(['one job under a backlog', 'enqueue', 'of it store', 'process', 'of it store', 'caller RSS']),
    ...backlogs.map((one) =>
      row([
        `  ${one.side}, ${one.waiting} wait`,
        ...[one.enqueueUs, one.enqueueStoreUs, one.processUs, one.processStoreUs].map(
          (us) => `${us.toFixed(0)} µs`,
        ),
        `${one.callerRssMb.toFixed(0)} MB`,
      ]),
    ),
    '',
    missed.length === 0 ? 'Every target holds.' : `Missed: ${missed.join('; ')}.`,
  ];
  return lines.map((line) => line.trimEnd()).join('\n');
}

export function missedTargets(figures: readonly Compared[]): string[] {
  return figures
    .filter(({ ratio, atLeast = 0, atMost = Infinity }) => ratio < atLeast || ratio > atMost)
    .map((one) => `${one.question} (${one.ratio.toFixed(2)}, wanted ${wanted(one)})`);
}

function row([question, ...cells]: readonly string[]): string {
  return question!.padEnd(52) + cells.map((cell) => cell.padEnd(18)).join('');
}

function amount(value: number, { unit }: Compared): string {
  return `${value.toFixed(0)} ${unit}`;
}

function spread({ ratio, rounds }: Compared): string {
  const all = rounds.map(({ ours, plain }) => ours / plain);
  return `${ratio.toFixed(2)} (${Math.min(...all).toFixed(2)}–${Math.max(...all).toFixed(2)})`;
}

function wanted({ atLeast, atMost, aim }: Compared): string {
  if (atMost !== undefined) return `≤ ${atMost}`;
  if (atLeast === undefined) return '';
  return `≥ ${atLeast}${aim === undefined ? '' : `, then ${aim}`}`;
}
