import type { OptionSpecs } from './arguments.js';
import type { Command } from './command.js';

const EXIT_CODES = `Exit codes: 0 success; 1 the API refused the request, or something failed; 2 wrong usage; 3 no answer from the API.`;

export function overview(commands: readonly Command[], globals: OptionSpecs): string {
  return `Usage: mooring <command> [options]

Enqueue, find, repair and cancel jobs that belong to owners.

${columns(commands.map(named))}

Global options:
${optionList(globals)}

Run mooring <command> --help for details and an example. ${EXIT_CODES}`;
}

/** @param name as it was typed; @param group the other commands of the same noun */
export function commandHelp(
  { forms, description, options = {}, more, example }: Command,
  name: string,
  group: readonly Command[],
  globals: OptionSpecs,
): string {
  return [
    forms.map((form, i) => `${i === 0 ? 'Usage:' : '      '} mooring ${name} ${form}`.trimEnd()).join('\n'),
    `${description[0]!.toUpperCase()}${description.slice(1)}.`,
    `Example: mooring ${example}`,
    ...(Object.keys(options).length > 0 ? [optionList(options)] : []),
    ...(more ? [more] : []),
    ...(group.length > 0 ? [`See also:\n${columns(group.map(named))}`] : []),
    `Global options:\n${optionList(globals)}`,
  ].join('\n\n');
}

/** The other commands that begin with the same word. */
export function groupOf(command: Command, commands: readonly Command[]): readonly Command[] {
  const [noun] = command.name.split(' ');
  return commands.filter((other) => other !== command && other.name.split(' ')[0] === noun);
}

function named({ name, alias, description }: Command): readonly [string, string] {
  return [alias ? `${name}, ${alias}` : name, description];
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
