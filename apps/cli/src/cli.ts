import { Api } from './api.js';
import { readArguments, wordsAt, type OptionSpecs } from './arguments.js';
import type { Command, ExitCode } from './command.js';
import { COMMANDS } from './commands/index.js';
import { commandHelp, groupOf, overview } from './help.js';
import { readInput } from './input.js';
import { Output } from './output.js';
import { didYouMean, Refused, Unreachable, WrongUsage } from './problems.js';
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
  const at = wordsAt(args, ALL_OPTIONS);
  const isHelp = at.length > 0 && args[at[0]!] === 'help';
  const named = isHelp ? at.slice(1) : at;
  if (named.length === 0) return help(isHelp ? args.toSpliced(at[0]!, 1) : args, version, out);
  const { command, name, rest } = findCommand(args, named);
  try {
    const parsed = readArguments(rest, { ...command.options, ...GLOBAL_OPTIONS });
    if (parsed.has('version')) return print(version, out);
    if (isHelp || parsed.has('help'))
      return print(commandHelp(command, name, groupOf(command, COMMANDS), GLOBAL_OPTIONS), out);
    const { url, key } = readSettings(parsed, env);
    return await command.run(parsed, { api: new Api(url, key, version), out, readInput });
  } catch (error) {
    if (error instanceof WrongUsage) throw new WrongUsage(error.message, name);
    throw error;
  }
}

/** Options of all commands: finding the command needs to know which options have a value. */
const ALL_OPTIONS: OptionSpecs = Object.assign({}, ...COMMANDS.map(({ options }) => options), GLOBAL_OPTIONS);

/** Handles `mooring` and `mooring --help`. */
function help(args: readonly string[], version: string, out: Output): ExitCode {
  const parsed = readArguments(args, GLOBAL_OPTIONS);
  return print(parsed.has('version') ? version : overview(COMMANDS, GLOBAL_OPTIONS), out);
}

function print(text: string, out: Output): ExitCode {
  out.print(text);
  return 0;
}

interface Found {
  readonly command: Command;
  /** As it was typed. */
  readonly name: string;
  /** The arguments without the name. */
  readonly rest: readonly string[];
}

/** Finds the command of two words, else the command of one. */
function findCommand(args: readonly string[], at: readonly number[]): Found {
  for (const words of [at.slice(0, 2), at.slice(0, 1)]) {
    const name = words.map((i) => args[i]!).join(' ');
    const command = COMMANDS.find((one) => isNamed(one, name));
    const isVerbWrong = command && takesNoWords(command) && at.length > words.length;
    if (command && !isVerbWrong) return { command, name, rest: args.filter((_, i) => !words.includes(i)) };
  }
  throw unknownCommand(args, at);
}

/** `jobs list` is `jobs`. */
function isNamed(command: Command, name: string): boolean {
  const { name: own, alias } = command;
  return own === name || alias === name || (takesNoWords(command) && `${own} list` === name);
}

function takesNoWords({ words }: Command): boolean {
  return words?.usage === '';
}

function unknownCommand(args: readonly string[], at: readonly number[]): WrongUsage {
  const names = COMMANDS.flatMap(({ name, alias }) => (alias ? [name, alias] : [name]));
  const first = args[at[0]!]!;
  const verbs = names.filter((name) => name.startsWith(`${first} `));
  const typed = verbs.length > 0 && at.length > 1 ? `${first} ${args[at[1]!]}` : first;
  const known = verbs.length > 0 ? verbs : [...new Set(names.map((name) => name.split(' ')[0]!))];
  return new WrongUsage(
    `Unknown command "${typed}".${didYouMean(typed, known) || ` Commands: ${known.join(', ')}.`}`,
  );
}

function reportError(error: unknown, out: Output): ExitCode {
  if (error instanceof WrongUsage) {
    out.note(renderWrongUsage(error, out.noteScreen));
    return 2;
  }
  // With --json a refusal is printed to stdout, like any other answer.
  if (error instanceof Refused && error.problem && out.isJson) out.json(error.problem);
  else if (error instanceof Refused || error instanceof Unreachable)
    out.note(renderProblem(error, out.noteScreen));
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
