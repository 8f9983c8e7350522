import type { KilledWorker } from './killed.worker.js';
import type { Noticed } from './noticed.js';

export interface Figures {
  readonly name: string;
  readonly loneCommandMs: number;
  readonly processedPerSecond: readonly number[];
  readonly medianPerSecond: number;
  readonly connections: { readonly asked: number; readonly answered: number; readonly ms: number };
  readonly killedWorker: KilledWorker;
  readonly noticed: Noticed;
}

const LONE_COMMAND_MS = 2;
const LEAST_RATIO = 0.5;

type Row = readonly [question: string, answer: (of: Figures) => string];

const ROWS: readonly Row[] = [
  ['lone command, median', (of) => `${of.loneCommandMs.toFixed(3)} ms`],
  ['jobs processed, median of rounds', (of) => `${of.medianPerSecond} /s`],
  ['  slowest .. fastest round', (of) => range(of.processedPerSecond)],
  ['connections in a row, answered', ({ connections: c }) => `${c.answered} of ${c.asked} in ${c.ms} ms`],
  [
    'jobs with a worker killed, completed',
    ({ killedWorker: k }) => `${k.completed} of ${k.jobs} in ${k.seconds} s`,
  ],
  ['  lost', (of) => String(of.killedWorker.lost)],
  ['noticed: port taken', (of) => of.noticed.takenPort],
  ['noticed: store killed', (of) => of.noticed.killed],
  ['noticed: SHUTDOWN', (of) => of.noticed.shutdown],
];

export function table(figures: readonly Figures[], missed: readonly string[]): string {
  const lines = [
    ['', ...figures.map((of) => of.name)],
    ...ROWS.map(([question, answer]) => [question, ...figures.map(answer)]),
  ].map(
    ([question, ...answers]) => question!.padEnd(40) + answers.map((answer) => answer.padEnd(28)).join(''),
  );
  const ratio = ratioOf(figures);
  if (ratio !== undefined) lines.push(`jobs processed, embedded / redis-server   ${ratio.toFixed(2)}`);
  lines.push(missed.length === 0 ? 'Every target holds.' : `Missed: ${missed.join('; ')}.`);
  return lines.map((line) => line.trimEnd()).join('\n');
}

/** What the embedded store, which comes first, has to hold. */
export function missedTargets(figures: readonly Figures[]): string[] {
  const own = figures[0]!;
  const ratio = ratioOf(figures);
  const missed: string[] = [];
  if (own.loneCommandMs >= LONE_COMMAND_MS) missed.push(`a lone command below ${LONE_COMMAND_MS} ms`);
  if (ratio !== undefined && ratio < LEAST_RATIO)
    missed.push(`${LEAST_RATIO} of redis-server's jobs a second`);
  if (own.connections.answered < own.connections.asked) missed.push('every connection answered');
  if (own.killedWorker.lost > 0) missed.push('no job lost');
  if (Object.values(own.noticed).includes('NO')) missed.push('every end noticed');
  return missed;
}

function ratioOf([own, other]: readonly Figures[]): number | undefined {
  return own && other && own.medianPerSecond / other.medianPerSecond;
}

function range(rates: readonly number[]): string {
  return `${Math.min(...rates)} .. ${Math.max(...rates)} /s`;
}
