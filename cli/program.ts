import { styleText } from 'node:util';
import { Argument, Command, Option } from 'commander';
import packageJson from '#package.json' with { type: 'json' };
import { addAccountCommands } from './accounts/commands.ts';
import { addAgentCommands } from './agents/commands.ts';
import { addCachingCommand } from './caching/commands.ts';
import { CliError } from './cli-error.ts';
import { addCompareCommand } from './compare/commands.ts';
import { completeWords, formatCompletionScript, type Shell, shells } from './completion.ts';
import type { CliContext } from './context.ts';
import { addDoctorCommand } from './doctor/commands.ts';
import { formatExamples } from './help.ts';
import { parseUrl, parseUser } from './option-values.ts';
import { addTaskCommands } from './tasks/commands.ts';

/** The program with all its commands. A command that fails throws; one that ends otherwise sets `process.exitCode`. */
export function buildProgram(context: CliContext): Command {
  const program = new Command('busdriver')
    .description(
      "Busdriver's command line: runs Busdriver, deploys by one that runs, and looks after its tasks, accounts and agents.",
    )
    .version(packageJson.version, '--version', 'print the version')
    .helpOption('--help', 'print this help')
    .addOption(
      new Option('--url <url>', 'where Busdriver answers')
        .env('BUSDRIVER_URL')
        .default('http://127.0.0.1:7002')
        .argParser(parseUrl),
    )
    .addOption(
      new Option('--user <name>', "who you are: Spinnaker's user, sent as X-SPINNAKER-USER")
        .env('BUSDRIVER_USER')
        .argParser(parseUser),
    )
    .addOption(
      new Option('--output <format>', 'how results are printed').choices(['table', 'json']).default('table'),
    )
    .configureHelp({
      showGlobalOptions: true,
      styleTitle: (title) => styleText('bold', title, { validateStream: false }),
    })
    .showHelpAfterError('Run with --help for usage.')
    .helpCommand(false)
    .exitOverride();
  addLauncherCommands(program);
  addTaskCommands(program, context);
  addAccountCommands(program, context);
  addCompareCommand(program, context);
  addAgentCommands(program, context);
  addCachingCommand(program, context);
  addDoctorCommand(program, context);
  addCompletionCommands(program, context);
  return program.addHelpText(
    'after',
    [
      formatExamples(
        'busdriver start --kubeconfig ~/.kube/config',
        'busdriver deploy --account prod --application shop -f shop.yaml',
        'busdriver accounts list',
        'busdriver accounts list --output json',
        'busdriver accounts add prod --eks production --region eu-west-1',
        'busdriver doctor',
      ),
      '',
      'Environment:',
      '  BUSDRIVER_TOKEN         bearer token of the Busdriver at --url',
      '  BUSDRIVER_IMPORT_TOKEN  bearer token of the server that accounts are imported from, or compared with',
      '  NO_COLOR                any value: no colours on terminals',
      '',
      'Exit codes: 0 done, 1 something failed, 2 wrong command line.',
    ].join('\n'),
  );
}

/** What the launcher, `cli/busdriver`, runs itself: the server has options of Node, which a process gets at its start. */
function addLauncherCommands(program: Command): void {
  const commands = [
    ['start', 'runs Busdriver on this machine: busdriver start --help'],
    ['demo', 'deploys a sample application and watches it: busdriver demo --help'],
  ] as const;
  for (const [name, description] of commands) {
    program
      .command(name)
      .description(description)
      .allowExcessArguments()
      .allowUnknownOption()
      .action(() => {
        throw new CliError(`'${name}' comes first: busdriver ${name} [options]`, { exitCode: 2 });
      });
  }
}

function addCompletionCommands(program: Command, { terminal, environment }: CliContext): void {
  program
    .command('completion')
    .description('prints the script that completes commands, options and names of accounts in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText(
      'after',
      formatExamples(
        'eval "$(busdriver completion bash)"      # in ~/.bashrc',
        'eval "$(busdriver completion zsh)"       # in ~/.zshrc, behind compinit',
        'busdriver completion fish | source       # in ~/.config/fish/config.fish',
      ),
    )
    .action((shell: Shell) => {
      terminal.print(formatCompletionScript(shell, environment['LAUNCHER'] ?? 'busdriver'));
    });
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .action(async (words: readonly string[]) => {
      const lines = await completeWords(program, words, environment['BUSDRIVER_TOKEN'] || undefined);
      for (const line of lines) terminal.print(line);
    });
}
