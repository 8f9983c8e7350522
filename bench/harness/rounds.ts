import { parseArgs } from 'node:util';

export interface RunOptions {
  readonly rounds: number;
  /** For a machine, not for eyes. */
  readonly json: boolean;
  /** Also what takes minutes. */
  readonly large: boolean;
}

/** How a benchmark was asked to run: `[--rounds N] [--json] [--large]`. */
export function readOptions(): RunOptions {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      large: { type: 'boolean', default: false },
      rounds: { type: 'string', default: '5' },
    },
  });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds takes a whole number from 1 up');
  return { rounds, json: values.json, large: values.large };
}

/** Cut short, it still ends what it started: the children by its 'exit', or by losing it. */
export function endWhenCutShort(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
}
