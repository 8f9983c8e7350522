import type { OptionSpecs } from './arguments.js';
import type { Command } from './command.js';

const EXIT_CODES = `Exit codes: 0 success; 1 the API refused the request, or something failed; 2 wrong usage; 3 no answer from the API.`;

export function overview(commands: readonly Command[], globals: OptionSpecs): string {
  const names = commands.map(({ name, description }) => [name, description] as const);
  return `Usage: mooring <command> [options]

Enqueue, inspect and cancel jobs that belong to owners.

${columns(names)}

Global options:
${optionList(globals)}

Run mooring <command> --help for details. ${EXIT_CODES}`;
}

export function commandHelp({ usage, description, options, more }: Command, globals: OptionSpecs): string {
  const own = Object.keys(options).length > 0 ? [optionList(options)] : [];
  return [
    usage.map((way, i) => `${i === 0 ? 'Usage:' : '      '} mooring ${way}`).join('\n'),
    `${description[0]!.toUpperCase()}${description.slice(1)}.`,
    ...own,
    ...(more ? [more] : []),
    `Global options:\n${optionList(globals)}`,
  ].join('\n\n');
}

function optionList(specs: OptionSpecs): string {
  return columns(
    Object.entries(specs).map(([name, { value, description }]) => [
      `--${name}${value ? ` ${value}` : ''}`,
      description,
    ]),
  );
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const widest = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, description]) => `  ${name.padEnd(widest)}  ${description}`).join('\n');
}
