import { type Command, Option } from 'commander';
import type { CliContext } from '../context.ts';
import { formatExamples } from '../help.ts';
import { addValue, parseSeconds, parseText } from '../option-values.ts';
import { type DeploymentOptions, deploy } from './deployment.ts';
import { cancelTask, type ListingOptions, listTasks, showTask } from './listing.ts';

const states = ['STARTED', 'COMPLETED', 'FAILED', 'FAILED_RETRYABLE'];

/** Adds `deploy`, `tasks`, `task` and `cancel`. */
export function addTaskCommands(program: Command, context: CliContext): void {
  addDeployCommand(program, context);
  addListCommand(program, context);
  addShowCommand(program, context);
  addCancelCommand(program, context);
}

function addDeployCommand(program: Command, context: CliContext): void {
  program
    .command('deploy')
    .description('deploys manifests as Spinnaker does, and follows the task to its end')
    .requiredOption(
      '-f, --filename <file>',
      'a file of YAML or JSON, or - for standard input (repeatable)',
      addValue,
    )
    .requiredOption('--account <account>', 'the account to deploy to', parseText)
    .requiredOption('--application <application>', "Spinnaker's application of the objects", parseText)
    .option(
      '--namespace <namespace>',
      'the namespace of all of them (default: as the manifests say)',
      parseText,
    )
    .option('--dry-run', 'change nothing, and print what would change')
    .option('--wait', 'wait until all objects are stable')
    .addOption(
      new Option('--timeout <seconds>', 'how long --wait waits').default('600').argParser(parseSeconds),
    )
    .addHelpText(
      'after',
      [
        formatExamples(
          'busdriver deploy --account prod --application shop -f shop.yaml --wait',
          'kubectl kustomize shop | busdriver deploy --account prod --application shop -f - --dry-run',
        ),
        '',
        'Exit codes: 0 done, or by --dry-run nothing would change; 1 it failed; 2 by --dry-run something would change.',
      ].join('\n'),
    )
    .action(async (options: DeploymentOptions, command: Command) => {
      process.exitCode = await deploy(context, options, command);
    });
}

function addListCommand(program: Command, context: CliContext): void {
  program
    .command('tasks')
    .description('lists tasks of the last seven days, newest first, of accounts that you may read')
    .option('--account <account>', 'of this account', parseText)
    .option('--application <application>', 'of this application', parseText)
    .option('--operation <operation>', 'with this operation, such as deployManifest', parseText)
    .addOption(new Option('--state <state>', 'in this state').choices(states))
    .option('--by <user>', 'started by this user', parseText)
    .option('--limit <number>', 'at most so many, up to 200', parseText, '20')
    .addHelpText(
      'after',
      formatExamples('busdriver tasks --account prod', 'busdriver tasks --state FAILED --output json'),
    )
    .action((options: ListingOptions, command: Command) => listTasks(context, options, command));
}

function addShowCommand(program: Command, context: CliContext): void {
  program
    .command('task')
    .description('shows the history of a task, and what it waits for; ends with 1 where it failed')
    .argument('<id>', 'the id of the task', parseText)
    .option('--follow', 'until it has ended')
    .addHelpText('after', formatExamples('busdriver task 20PBRVTDY07062MPZJF1RQ3XVZ --follow'))
    .action(async (id: string, { follow }: { readonly follow?: boolean }, command: Command) => {
      process.exitCode = await showTask(context, { id, ...(follow && { follow }) }, command);
    });
}

function addCancelCommand(program: Command, context: CliContext): void {
  program
    .command('cancel')
    .description('cancels a task before its next step; a step is never broken off')
    .argument('<id>', 'the id of the task', parseText)
    .addHelpText('after', formatExamples('busdriver cancel 20PBRVTDY07062MPZJF1RQ3XVZ'))
    .action((id: string, _options: unknown, command: Command) => cancelTask(context, id, command));
}
