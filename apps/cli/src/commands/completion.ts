import type { Api } from '../api.js';
import type { Kinds } from '../answers.js';
import type { OptionSpecs } from '../arguments.js';
import type { Command } from '../command.js';
import { GLOBAL_OPTIONS } from '../settings.js';
import { oneOf } from '../words.js';

/** Each script asks `mooring completion words` what may follow the words so far; the last one is what is being typed. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_mooring() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(
    compgen -W "$(mooring completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"
  )
}
complete -o default -F _mooring mooring`,
  zsh: `#compdef mooring
_mooring() {
  local -a candidates
  candidates=(\${(f)"$(mooring completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( \${#candidates} )); then compadd -a candidates; else _files; fi
}
compdef _mooring mooring`,
  fish: `function __mooring_complete
  set -l typed (commandline -opc)[2..-1] (commandline -ct)
  mooring completion words -- $typed 2>/dev/null
end
complete -c mooring -f -a '(__mooring_complete)'`,
};
const words = oneOf('shell', Object.keys(SCRIPTS));
/** Completion must not keep the shell waiting. */
const ANSWER_MS = 1_000;

/** @param commands all others */
export function completionCommand(commands: readonly Command[]): Command {
  const completion: Command = {
    name: 'completion',
    words,
    forms: [words.usage],
    description: 'print a script that completes commands, options, kinds and queues in a shell',
    example: 'completion bash >> ~/.bashrc',
    more: 'zsh: mooring completion zsh >> ~/.zshrc\nfish: mooring completion fish > ~/.config/fish/completions/mooring.fish',
    run: async (parsed, { api, out }) => {
      const [first, ...typed] = parsed.words;
      if (first === 'words') {
        const found = await candidates(typed, [...commands, completion], api);
        if (found.length > 0) out.print(found.join('\n'));
      } else {
        out.print(SCRIPTS[words.read(parsed.words, completion.example)[0]!]!);
      }
      return 0;
    },
  };
  return completion;
}

/** What may stand in the place of the last word. */
export async function candidates(
  typed: readonly string[],
  commands: readonly Command[],
  api: Pick<Api, 'get'>,
): Promise<readonly string[]> {
  const last = typed.at(-1) ?? '';
  const before = typed.slice(0, -1);
  const found = await following(before, last, commands, api);
  return [...new Set(found)].filter((one) => one.startsWith(last)).toSorted();
}

async function following(
  before: readonly string[],
  last: string,
  commands: readonly Command[],
  api: Pick<Api, 'get'>,
): Promise<readonly string[]> {
  const names = commands.flatMap(({ name, alias }) => (alias ? [name, alias] : [name]));
  const command = commandOf(before, commands);
  const options: OptionSpecs = { ...command?.options, ...GLOBAL_OPTIONS };
  const previous = before.at(-1) ?? '';
  const option = previous.startsWith('--') ? options[previous.slice(2)] : undefined;
  if (option?.value && !option.bare) return option.of ?? valuesOf(option.value, api);
  if (last.startsWith('-')) return Object.keys(options).map((name) => `--${name}`);
  if (before.length === 0) return names.map((name) => name.split(' ')[0]!);
  const verbs =
    before.length === 1
      ? names.filter((name) => name.startsWith(`${before[0]} `)).map((name) => name.split(' ')[1]!)
      : [];
  const own = command?.words;
  return [...verbs, ...(own ? (own.of ?? (await valuesOf(own.usage.replace('…', ''), api))) : [])];
}

function commandOf(before: readonly string[], commands: readonly Command[]): Command | undefined {
  const [two, one] = [before.slice(0, 2).join(' '), before[0]];
  const find = (typed: string | undefined): Command | undefined =>
    commands.find(({ name, alias }) => name === typed || alias === typed);
  return find(two) ?? find(one);
}

/** The names of kinds and queues come from the API, if it answers. */
async function valuesOf(placeholder: string, api: Pick<Api, 'get'>): Promise<readonly string[]> {
  if (placeholder !== '<kind>' && placeholder !== '<queue>') return [];
  try {
    const { kinds } = await api.get<Kinds>('/v1/kinds', {}, ANSWER_MS);
    return kinds.map(({ name, queue }) => (placeholder === '<kind>' ? name : queue));
  } catch {
    return [];
  }
}
