import type { OptionSpecs } from './arguments.js';
import type { Command } from './command.js';

const EXIT_CODES = `Exit codes: 0 all is well; 1 the api refused, or something failed; 2 wrong usage; 3 no answer from the api.`;

/** What there is. */
export function overview(commands: readonly Command[], globals: OptionSpecs): string {
  const names = commands.map(({ name, says }) => [name, says] as const);
  return `Usage: mooring <command> [options]

Jobs that belong to owners: ask for them, look at them, end them.

${columns(names)}

For every command:
${optionList(globals)}

mooring <command> --help says more. ${EXIT_CODES}`;
}

/** One command: how it is called, and with what. */
export function commandHelp({ usage, says, options, more }: Command, globals: OptionSpecs): string {
  const own = Object.keys(options).length > 0 ? [optionList(options)] : [];
  return [
    usage.map((way, i) => `${i === 0 ? 'Usage:' : '      '} mooring ${way}`).join('\n'),
    `${says[0]!.toUpperCase()}${says.slice(1)}.`,
    ...own,
    ...(more ? [more] : []),
    `For every command:\n${optionList(globals)}`,
  ].join('\n\n');
}

function optionList(specs: OptionSpecs): string {
  return columns(
    Object.entries(specs).map(([name, { value, says }]) => [`--${name}${value ? ` ${value}` : ''}`, says]),
  );
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const widest = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, says]) => `  ${name.padEnd(widest)}  ${says}`).join('\n');
}
