import { hasUnit, typedDurationMs } from '#durations';
import { nearestName } from '#nearest-name';
import { parseArgs } from 'node:util';
import { didYouMean, WrongUsage } from './problems.js';

export interface OptionSpec {
  /** Placeholder in the help. An option without one is a flag. */
  readonly value?: string;
  readonly description: string;
  /** The only values that are allowed. */
  readonly of?: readonly string[];
  /** Allows the option more than once. */
  readonly many?: boolean;
  /** Duration to use when the option has no value. */
  readonly bare?: string;
}
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** Positional arguments (`words`) and options of one call, checked against the options of its command. */
export class ParsedArgs {
  constructor(
    readonly words: readonly string[],
    private readonly values: ReadonlyMap<string, readonly string[]>,
  ) {}

  has(name: string): boolean {
    return this.values.has(name);
  }

  text(name: string): string | undefined {
    return this.values.get(name)?.at(-1);
  }

  list(name: string): readonly string[] {
    return this.values.get(name) ?? [];
  }

  /** Milliseconds. */
  duration(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    try {
      return typedDurationMs(text, `--${name}`);
    } catch (error) {
      throw new WrongUsage((error as Error).message);
    }
  }

  whole(name: string, from: number, to: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const number = /^\d+$/.test(text) ? Number(text) : NaN;
    if (number >= from && number <= to) return number;
    throw new WrongUsage(`--${name} must be a whole number from ${from} to ${to}; got "${text}".`);
  }
}

/** Throws `WrongUsage` for an unknown option, a missing value, or an option given twice. */
export function readArguments(args: readonly string[], specs: OptionSpecs): ParsedArgs {
  const words: string[] = [];
  const values = new Map<string, string[]>();
  const tokens = tokenize(args, specs);
  for (const [i, token] of tokens.entries()) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    const spec = Object.hasOwn(specs, token.name) ? specs[token.name] : undefined;
    if (!spec) throw unknownOption(token.rawName, Object.keys(specs));
    if (values.has(token.name) && !spec.many) throw new WrongUsage(`${token.rawName} is given twice.`);
    const next = tokens[i + 1];
    if (spec.bare && token.value === undefined && next?.kind === 'positional' && hasUnit(next.value)) {
      tokens.splice(i + 1, 1);
      values.set(token.name, [next.value]);
    } else {
      values.set(token.name, [...(values.get(token.name) ?? []), valueOf(token, spec)]);
    }
  }
  return new ParsedArgs(words, values);
}

/** The indices of the arguments that are neither options nor values of options. The first one or two name the command. */
export function wordsAt(args: readonly string[], specs: OptionSpecs): readonly number[] {
  return tokenize(args, specs).flatMap(({ kind, index }) => (kind === 'positional' ? [index] : []));
}

type Token = ReturnType<typeof tokenize>[number];

function tokenize(args: readonly string[], specs: OptionSpecs) {
  const options = Object.fromEntries(
    Object.entries(specs).map(([name, { value, bare }]) => [
      name,
      {
        type: value && !bare ? ('string' as const) : ('boolean' as const),
        ...(name === 'help' && { short: 'h' }),
      },
    ]),
  );
  return parseArgs({ args: [...args], options, strict: false, tokens: true, allowPositionals: true }).tokens;
}

function valueOf(token: Extract<Token, { kind: 'option' }>, spec: OptionSpec): string {
  const { rawName, value, inlineValue } = token;
  if (!spec.value) {
    if (value !== undefined) throw new WrongUsage(`${rawName} takes no value.`);
    return '';
  }
  if (value === undefined && spec.bare) return spec.bare;
  if (value === undefined || value === '')
    throw new WrongUsage(`${rawName} needs a value: ${rawName} ${spec.value}`);
  // A value that looks like an option is more likely the next option after a forgotten value.
  if (!inlineValue && value.length > 1 && value.startsWith('-')) {
    throw new WrongUsage(`${rawName} needs a value. To pass "${value}", write ${rawName}=${value}`);
  }
  if (spec.of && !spec.of.includes(value)) {
    const wrong = `${rawName} must be one of ${spec.of.join(', ')}; got "${value}".`;
    throw new WrongUsage(`${wrong}${didYouMean(value, spec.of)}`);
  }
  return value;
}

function unknownOption(rawName: string, known: readonly string[]): WrongUsage {
  const name = rawName.replace(/^-+/, '');
  const near = nearestName(name, known, name.length < 4 ? 1 : 3);
  const hint = near ? `Did you mean --${near}?` : 'Put -- before an argument that begins with -.';
  return new WrongUsage(`Unknown option ${rawName}. ${hint}`);
}
