import { type Command, Option } from 'commander';
import { accountArgument } from '../completion.ts';
import type { CliContext } from '../context.ts';
import { formatExamples } from '../help.ts';
import { addValue, parseNewName, parseText, parseUrl } from '../option-values.ts';
import { type AdditionOptions, addAccount } from './addition.ts';
import { type CheckOptions, checkAccount } from './check.ts';
import { compareAccount } from './comparison.ts';
import { listHistory } from './history.ts';
import { type ImportOptions, importAccounts } from './import.ts';
import { listAccounts } from './listing.ts';
import { removeAccount } from './removal.ts';

const nameOfAccount = 'the name of an account';

/** Adds `accounts` and its subcommands. */
export function addAccountCommands(program: Command, context: CliContext): void {
  const accounts = program
    .command('accounts')
    .description('lists, adds, removes, checks, compares and imports accounts')
    .helpCommand(false)
    .addHelpText(
      'after',
      formatExamples(
        'busdriver accounts list',
        'busdriver accounts add --help',
        'busdriver accounts check prod',
      ),
    );
  addListCommand(accounts, context);
  addAddCommand(accounts, context);
  addRemoveCommand(accounts, context);
  addCheckCommand(accounts, context);
  addCompareCommand(accounts, context);
  addHistoryCommand(accounts, context);
  addImportCommand(accounts, context);
}

function addListCommand(accounts: Command, context: CliContext): void {
  accounts
    .command('list')
    .description(
      'lists the accounts that you may see, where they are defined, and how far their cache is behind',
    )
    .addHelpText(
      'after',
      formatExamples(
        'busdriver accounts list',
        "busdriver accounts list --output json | jq -r '.[].name'",
        'busdriver accounts list --url https://clouddriver.example.com --user me@example.com',
      ),
    )
    .action((_options: unknown, command: Command) => listAccounts(context, command));
}

function addAddCommand(accounts: Command, context: CliContext): void {
  accounts
    .command('add')
    .description(
      'adds an account to the store, by one of --kubeconfig, --kubeconfig-secret, --eks and --host',
    )
    .argument('<name>', 'its name: letters, digits and characters of ._-', parseNewName)
    .option('--kubeconfig <file>', 'a kubeconfig: what its context needs is sent, and nothing else of it')
    .option('--kubeconfig-secret <secret>', 'a secret of Secrets Manager that holds a kubeconfig', parseText)
    .option('--context <context>', 'a context of either (default: the current one)', parseText)
    .option('--eks <cluster>', 'a cluster of Amazon EKS, which is reached by IAM', parseText)
    .option('--region <region>', 'the region of --eks', parseText)
    .option('--role-arn <arn>', 'the role that is taken on for --eks', parseText)
    .option('--host <url>', 'an API server by its address; tokens come from a token broker', parseUrl)
    .option('--ca <file>', 'certificates of the authorities that --host is trusted by, PEM')
    .option('--token-provider <provider>', 'what the token broker is asked for (default: google)', parseText)
    .option('--namespace <namespace>', 'a namespace that it is bounded to (repeatable)', addValue)
    .option('--read <group>', 'a group that may see it (repeatable; default: everybody)', addValue)
    .option('--write <group>', 'a group that may change what is in it (repeatable)', addValue)
    .option('--environment <environment>', 'what Deck shows as its environment', parseText)
    .addHelpText(
      'after',
      formatExamples(
        'busdriver accounts add prod --kubeconfig-secret clusters/prod --read shop --write shop-operators',
        'busdriver accounts add test --kubeconfig ~/.kube/config --context test-eu',
        'busdriver accounts add prod --eks production --region eu-west-1 --namespace shop --namespace billing',
        'busdriver accounts add prod --host https://10.1.2.3 --ca ca.pem --token-provider google',
      ),
    )
    .action((name: string, options: AdditionOptions, command: Command) =>
      addAccount(context, { name, options }, command),
    );
}

function addRemoveCommand(accounts: Command, context: CliContext): void {
  accounts
    .command('remove')
    .description(
      'removes an account from the store and its objects from the cache; its cluster stays as it is',
    )
    .argument(`<${accountArgument}>`, nameOfAccount, parseText)
    .addHelpText(
      'after',
      formatExamples('busdriver accounts remove prod', 'busdriver accounts history prod   # what it was'),
    )
    .action((name: string, _options: unknown, command: Command) => removeAccount(context, name, command));
}

function addCheckCommand(accounts: Command, context: CliContext): void {
  accounts
    .command('check')
    .description(
      'looks whether an account works: its state and caching, and with --kubeconfig version, rights and clock of the cluster',
    )
    .argument(`<${accountArgument}>`, nameOfAccount, parseText)
    .option(
      '--kubeconfig <file>',
      "a kubeconfig with the account's credentials: the cluster is called from here",
    )
    .option('--context <context>', 'a context of it (default: the current one)', parseText)
    .option(
      '--namespace <namespace>',
      "a namespace that it is bounded to (default: it reads all, and deploys into the context's)",
      parseText,
    )
    .addHelpText(
      'after',
      [
        formatExamples(
          'busdriver accounts check prod',
          'busdriver accounts check prod --kubeconfig busdriver-prod.kubeconfig --namespace shop',
        ),
        '',
        'Rights are those of docs/examples/rbac-read.yaml and rbac-deploy.yaml, checked for the user of the kubeconfig.',
      ].join('\n'),
    )
    .action(async (name: string, options: CheckOptions, command: Command) => {
      process.exitCode = await checkAccount(context, { name, options }, command);
    });
}

function addCompareCommand(accounts: Command, context: CliContext): void {
  accounts
    .command('compare')
    .description(
      'has all that is cached of an account compared with its cluster now, as is done each hour: after etcd was restored, for example',
    )
    .argument(`<${accountArgument}>`, nameOfAccount, parseText)
    .addHelpText('after', formatExamples('busdriver accounts compare prod'))
    .action((name: string, _options: unknown, command: Command) => compareAccount(context, name, command));
}

function addHistoryCommand(accounts: Command, context: CliContext): void {
  accounts
    .command('history')
    .description('lists every change of an account in the store, newest first; those of removed ones, too')
    .argument(`<${accountArgument}>`, nameOfAccount, parseText)
    .addHelpText(
      'after',
      formatExamples(
        'busdriver accounts history prod',
        "busdriver accounts history prod --output json | jq '.[1].account'   # as it was before",
      ),
    )
    .action((name: string, _options: unknown, command: Command) => listHistory(context, name, command));
}

function addImportCommand(accounts: Command, context: CliContext): void {
  const source = (flags: string, description: string, others: readonly string[]) =>
    new Option(flags, description).conflicts([...others]);
  accounts
    .command('import')
    .description(
      'adds the accounts of another server, or of files, to the store; those that are there stay as they are',
    )
    .addOption(
      source('--go-clouddriver <url>', 'the providers of a go-clouddriver', [
        'clouddriver',
        'file',
      ]).argParser(parseUrl),
    )
    .addOption(
      source('--clouddriver <url>', 'the accounts in the store of a Clouddriver', [
        'goClouddriver',
        'file',
      ]).argParser(parseUrl),
    )
    .addOption(
      source(
        '--file <file>',
        "Spinnaker's YAML, Halyard's config, the Operator's manifest, or a folder of them",
        ['goClouddriver', 'clouddriver'],
      ).argParser(parseText),
    )
    .option('--profiles <names>', "Spring's profiles of --file, divided by commas", 'local')
    .option('--replace', 'replace accounts of the store that are there')
    .option('--dry-run', 'read them all, and add none')
    .addHelpText(
      'after',
      formatExamples(
        'busdriver accounts import --go-clouddriver http://go-clouddriver:7002',
        'busdriver accounts import --clouddriver http://spin-clouddriver:7002 --user admin',
        'busdriver accounts import --file ~/.hal/config --dry-run',
        'busdriver accounts import --file clouddriver.yml --profiles local,prod',
      ),
    )
    .action(async (options: ImportOptions, command: Command) => {
      process.exitCode = await importAccounts(context, options, command);
    });
}
