import { nearestName } from '#nearest-name';
import { Api } from './api.js';
import { firstWord, readArguments, type OptionSpecs } from './arguments.js';
import type { Command, ExitCode } from './command.js';
import { COMMANDS } from './commands/index.js';
import { commandHelp, overview } from './help.js';
import { readInput } from './input.js';
import { Output } from './output.js';
import { Refused, Unreachable, WrongUsage } from './problems.js';
import { renderProblem, renderWrongUsage } from './render/problem.js';
import { GLOBAL_OPTIONS, readSettings } from './settings.js';

export interface CliContext {
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly version: string;
}

export async function cli(args: readonly string[], context: CliContext): Promise<ExitCode> {
  const out = new Output(context.stdout, context.stderr, context.env, args.includes('--json'));
  exitQuietlyOnClosedPipe(context.stdout, out);
  try {
    return await runCommand(args, context, out);
  } catch (error) {
    return reportError(error, out);
  }
}

async function runCommand(
  args: readonly string[],
  { env, version }: CliContext,
  out: Output,
): Promise<ExitCode> {
  const at = firstWord(args, ALL_OPTIONS);
  const name = at === undefined ? undefined : args[at]!;
  if (name === undefined || name === 'help') return help(args.toSpliced(at ?? 0, name ? 1 : 0), version, out);
  const command = findCommand(name);
  try {
    const parsed = readArguments(args.toSpliced(at!, 1), { ...command.options, ...GLOBAL_OPTIONS });
    if (parsed.has('version')) return print(version, out);
    if (parsed.has('help')) return print(commandHelp(command, GLOBAL_OPTIONS), out);
    const { url, key } = readSettings(parsed, env);
    return await command.run(parsed, { api: new Api(url, key, version), out, readInput });
  } catch (error) {
    if (error instanceof WrongUsage) throw new WrongUsage(error.message, command.name);
    throw error;
  }
}

/** Options of all commands: finding the command needs to know which options have a value. */
const ALL_OPTIONS: OptionSpecs = Object.assign({}, ...COMMANDS.map(({ options }) => options), GLOBAL_OPTIONS);

/** Handles `mooring`, `mooring --help` and `mooring help cancel`. */
function help(args: readonly string[], version: string, out: Output): ExitCode {
  const parsed = readArguments(args, GLOBAL_OPTIONS);
  if (parsed.has('version')) return print(version, out);
  const [name] = parsed.words;
  return print(
    name ? commandHelp(findCommand(name), GLOBAL_OPTIONS) : overview(COMMANDS, GLOBAL_OPTIONS),
    out,
  );
}

function print(text: string, out: Output): ExitCode {
  out.print(text);
  return 0;
}

function findCommand(name: string): Command {
  const command = COMMANDS.find((one) => one.name === name);
  if (command) return command;
  const names = COMMANDS.map((one) => one.name);
  const near = nearestName(name, names, 3);
  throw new WrongUsage(
    `Unknown command "${name}".${near ? ` Did you mean ${near}?` : ` Commands: ${names.join(', ')}.`}`,
  );
}

function reportError(error: unknown, out: Output): ExitCode {
  if (error instanceof WrongUsage) {
    out.note(renderWrongUsage(error, out.paintNote));
    return 2;
  }
  // With --json a refusal is printed to stdout, like any other answer.
  if (error instanceof Refused && error.problem && out.isJson) out.json(error.problem);
  else if (error instanceof Refused || error instanceof Unreachable)
    out.note(renderProblem(error, out.paintNote));
  else out.note(`mooring: ${(error as Error).stack}`);
  return error instanceof Unreachable ? 3 : 1;
}

/** In `mooring … | head` the reader closes the pipe early; that is no error. */
function exitQuietlyOnClosedPipe(stdout: NodeJS.WriteStream, out: Output): void {
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    if (!out.mustFinish) process.exit(0);
  });
}
