import { getErrorMessage } from '#core/errors.ts';
import { ContextError, readContext } from '#infra/aws/context/context-options.ts';
import { formatHelp, many, optional, parseOptions, read, toggle, UsageError } from '#infra/options.ts';
import { NotReadError } from './account-calls.ts';
import { openAccount, toReaderPolicy } from './account-reads.ts';
import { runChecks } from './checks.ts';
import { readContextFiles } from './context-files.ts';
import type { DeploymentPlan } from './deployment-plan.ts';
import { countRows, formatReport, toJsonReport } from './report.ts';
import type { Row } from './rows.ts';
import { findCaller, findInstalled } from './subject.ts';

/** What the command writes to, and how it plans. */
export interface CheckHost {
  /** Takes the report, or help. */
  print(text: string): void;
  /** Takes progress and errors of usage. */
  note(text: string): void;
  /** Synthesizes the stacks; the CDK that it takes is not loaded before it is called. @throws ContextError */
  plan(options: { readonly [name: string]: unknown }): Promise<DeploymentPlan>;
}

const options = {
  context: many(
    '-c, --context <NAME=VALUE>',
    'an option of the stacks, as for cdk deploy',
    (text, flag): readonly [name: string, value: string] => {
      const at = text.indexOf('=');
      if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
      throw new UsageError(`${flag}: expected NAME=VALUE, not '${text}'`);
    },
  ),
  profile: optional('--profile <NAME>', "a profile of the AWS CLI (default AWS_PROFILE's)", read.text),
  region: optional(
    '--region <REGION>',
    "the region to look at (default AWS_REGION, then the profile's)",
    read.text,
  ),
  readSecrets: toggle(
    '--read-secrets',
    'read the secrets that options name, too, and see whether they can be used; shows nothing of them',
  ),
  json: toggle('--json', 'print JSON: {"tally": …, "rows": [{matter, what, state, found, next}]}'),
  printPolicy: toggle('--print-policy', 'print the policy of IAM that reading all of it takes, and end'),
};

const program = {
  name: 'npm run deploy:check --',
  about:
    "Looks at an AWS account before a deploy: who you are, CDK's bootstrap, permissions, VPC, endpoint, certificate, name, key, secrets, " +
    'quotas, and what an earlier installation left. It takes the options of the stacks from the command line, cdk.context.json and ' +
    'cdk.json, as cdk deploy does. It only reads: nothing in the account is made or changed.',
  options,
  notes: [
    '',
    'Each line of the report says what was looked at and found: ok, worth knowing (note), to be mended before the deploy (MEND), or not',
    'checked, with the permission that was missing. Below stands what to do next.',
    '',
    'Examples:',
    '  npm run deploy:check',
    '  npm run deploy:check -- -c stage=prod -c vpcEndpointIds=vpce-0123456789abcdef0 --profile production',
    '  npm run deploy:check --silent -- --json > report.json',
    '',
    'Exit codes: 0 nothing to mend, 1 something to mend or no credentials, 2 wrong command line or options.',
  ],
};

/** Runs `npm run deploy:check`. @returns its exit code: 0 nothing to mend, 1 something to mend or no credentials, 2 wrong usage */
export async function runCheckCommand(args: readonly string[], host: CheckHost): Promise<number> {
  try {
    return await check(args, host);
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof ContextError)) throw error;
    host.note(error.message);
    if (error instanceof UsageError) host.note(`Try '${program.name} --help'.`);
    return 2;
  }
}

async function check(args: readonly string[], host: CheckHost): Promise<number> {
  const { help, printPolicy, readSecrets, json, ...given } = parseOptions(program, args);
  if (help) {
    host.print(formatHelp(program));
    return 0;
  }
  const account = openAccount(given);
  if (printPolicy) {
    host.print(JSON.stringify(toReaderPolicy(account, readSecrets), undefined, 2));
    return 0;
  }
  const context = readContextFiles(Object.fromEntries(given.context));
  readContext({ node: { getAllContext: () => context, tryGetContext: (name) => context[name] } });
  await account.getRegion().catch((error: unknown) => {
    const expected = 'expected a region here, in AWS_REGION or in the profile';
    throw new UsageError(`--region: ${expected}: ${getErrorMessage(error)}`);
  });
  const caller = await findCaller(account).catch(toNobody);
  if ('matter' in caller) return report([caller], json, host);
  host.note(`Looking at account ${caller.account}, region ${caller.region}: writing the templates first`);
  const plan = await host.plan(context);
  const { reads } = account;
  const subject = { ...caller, plan, reads, installed: findInstalled(plan, reads) };
  return report(await runChecks(subject, readSecrets), json, host);
}

function report(rows: readonly Row[], json: boolean, { print }: CheckHost): number {
  print(json ? toJsonReport(rows) : formatReport(rows));
  return countRows(rows).mend === 0 ? 0 : 1;
}

/** Without credentials there is nothing to look at. */
function toNobody(error: unknown): Row {
  if (!(error instanceof NotReadError)) throw error;
  const next =
    'aws sts get-caller-identity must work: aws configure sso, aws sso login, AWS_PROFILE or --profile';
  return { matter: 'account', what: 'who asks', state: 'mend', found: error.message, next };
}
