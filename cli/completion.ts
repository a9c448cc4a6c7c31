import type { Command } from 'commander';
import { asJsonArray, asString, getPath } from '#core/json.ts';
import { ApiClient } from './api-client.ts';

/** Shells that completion is there for. */
export const shells = ['bash', 'zsh', 'fish'] as const;

/** One of them. */
export type Shell = (typeof shells)[number];

/** Words that may be at the cursor. */
interface Candidate {
  readonly value: string;
  /** Shells that show it do. */
  readonly description?: string;
}

/** Names that no shell takes for anything but a word. */
const plainName = /^[\w.@%+/-]+$/;

/**
 * The script that a shell evaluates to complete the words behind `busdriver`.
 *
 * @param file the command that is asked, a path
 */
export function formatCompletionScript(shell: Shell, file: string): string {
  return scripts[shell](`'${file.replaceAll("'", shell === 'fish' ? "\\'" : "'\\''")}'`);
}

const scripts: { readonly [shell in Shell]: (command: string) => string } = {
  bash: (command) => `# Evaluate this in ~/.bashrc: eval "$(busdriver completion bash)"
_busdriver() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(${command} __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _busdriver busdriver`,
  zsh: (command) => `#compdef busdriver
# Evaluate this in ~/.zshrc, behind compinit: eval "$(busdriver completion zsh)"
_busdriver() {
  local line
  local -a values
  while IFS= read -r line; do
    values+=("\${line%%$'\\t'*}")
  done < <(${command} __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#values} )); then compadd -- "\${values[@]}"; else _files; fi
}
compdef _busdriver busdriver`,
  fish: (command) => `# Load this in ~/.config/fish/config.fish: busdriver completion fish | source
function __busdriver_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    ${command} __complete -- $words "$current" 2>/dev/null
end
complete -c busdriver -a '(__busdriver_complete)'`,
};

/**
 * Lists the words that may replace the last one, a line for each, with a tab before its description. Nothing means files.
 *
 * @param words those behind the name of the program, the last of which may be empty
 * @param token for the server whose accounts are listed
 */
export async function completeWords(
  program: Command,
  words: readonly string[],
  token: string | undefined,
): Promise<readonly string[]> {
  const [current = '', ...before] = [...words].reverse();
  const state = readWords(program, before.reverse());
  const candidates = await listCandidates(state, { current, token });
  return candidates
    .filter(({ value }) => value.startsWith(current))
    .map(({ value, description }) => (description ? `${value}\t${description}` : value));
}

/** The place of the cursor in the command line. */
interface WordState {
  readonly command: Command;
  /** Words of the command that are no options. */
  readonly position: number;
  /** The option whose value is awaited. */
  readonly option?: Command['options'][number] | undefined;
  /** What `--url` said. */
  readonly url?: string | undefined;
}

function readWords(program: Command, words: readonly string[]): WordState {
  return words.reduce<WordState>(
    ({ command, position, option, url }, word) => {
      if (option !== undefined) {
        return { command, position, url: option.long === '--url' ? word : url };
      }
      if (word.startsWith('-')) {
        const found = listOptions(command).find((each) => [each.long, each.short].includes(word));
        return { command, position, url, option: found?.required ? found : undefined };
      }
      const next = command.commands.find((each) => each.name() === word);
      return next ? { command: next, position: 0, url } : { command, position: position + 1, url };
    },
    { command: program, position: 0 },
  );
}

async function listCandidates(
  { command, position, option, url }: WordState,
  { current, token }: { current: string; token: string | undefined },
): Promise<readonly Candidate[]> {
  if (option?.long === `--${accountArgument}`) return listAccountNames(program(command), { url, token });
  if (option !== undefined) return (option.argChoices ?? []).map((value) => ({ value }));
  if (current.startsWith('-')) {
    const options = [...listOptions(command), ...listHelpOption(command)];
    return options.map(({ long, description }) => ({ value: long ?? '', description }));
  }
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  if (commands.length > 0) {
    if (position > 0) return [];
    return commands.map((each) => ({
      value: each.name(),
      description: each.summary() || each.description(),
    }));
  }
  const argument = command.registeredArguments[position];
  if (argument?.argChoices) return argument.argChoices.map((value) => ({ value }));
  return argument?.name() === accountArgument ? listAccountNames(program(command), { url, token }) : [];
}

/** The name of arguments that are accounts which are there. */
export const accountArgument = 'account';

/** Options of a command and of its parents. */
function listOptions(command: Command): readonly Command['options'][number][] {
  const own = command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long }) => long !== '--help');
  return command.parent === null ? own : [...own, ...listOptions(command.parent)];
}

function listHelpOption(command: Command) {
  return command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long }) => long === '--help');
}

function program(command: Command): Command {
  return command.parent === null ? command : program(command.parent);
}

/** Names of accounts; none where the server says nothing: somebody waits at a prompt. */
async function listAccountNames(
  root: Command,
  { url, token }: { readonly url: string | undefined; readonly token: string | undefined },
): Promise<readonly Candidate[]> {
  try {
    const { url: usual, user } = root.opts<{ url: string; user?: string }>();
    const client = new ApiClient({ url: url ?? usual, user, token, timeoutMs: 2_000, nextIfSilent: '' });
    const names = asJsonArray(await client.get('/credentials')).map((account) =>
      asString(getPath(account, 'name')),
    );
    return names
      .filter((name) => name !== undefined && plainName.test(name))
      .map((value = '') => ({ value }));
  } catch {
    return [];
  }
}
