import { getErrorMessage } from '../../shared/core/errors.ts';
import { ContextError, readContext } from '../context-options.ts';
import { AccountReader, NotReadError } from './account-reader.ts';
import { openAwsClients } from './aws-clients.ts';
import { type CheckOptions, CheckUsageError, formatCheckHelp, parseCheckOptions } from './check-options.ts';
import { readContextFiles } from './context-files.ts';
import type { DeploymentPlan } from './deployment-plan.ts';
import { countRows, formatReport, toJsonReport } from './report.ts';
import { type Row, runChecks } from './rows.ts';
import { type Caller, findCaller, findSubject } from './subject.ts';

/** What the command writes to, and how it plans. */
export interface CheckHost {
  /** Takes the report, or help. */
  print(text: string): void;
  /** Takes progress and errors of usage. */
  note(text: string): void;
  /** Synthesizes the stacks; the CDK that it takes is not loaded before it is called. @throws ContextError */
  plan(options: { readonly [name: string]: unknown }): Promise<DeploymentPlan>;
}

/** Runs `npm run deploy:check`. @returns its exit code: 0 nothing to mend, 1 something to mend or no credentials, 2 wrong usage */
export async function runCheckCommand(args: readonly string[], command: CheckHost): Promise<number> {
  try {
    const options = parseCheckOptions(args);
    const text = options.help ? formatCheckHelp() : await check(options, command);
    if (typeof text === 'number') return text;
    command.print(text);
    return 0;
  } catch (error) {
    if (!(error instanceof CheckUsageError || error instanceof ContextError)) throw error;
    // The operator's slip: its lines say all.
    command.note(error.message);
    if (error instanceof CheckUsageError) command.note('\nnpm run deploy:check -- --help');
    return 2;
  }
}

async function check(options: CheckOptions, command: CheckHost): Promise<number | string> {
  const { readsValues } = options;
  if (options.printsPolicy) {
    const { toReaderPolicy } = await import('./reader-policy.ts');
    return JSON.stringify(toReaderPolicy(readsValues), undefined, 2);
  }
  const context = readContextFiles(options.context);
  readContext({ node: { getAllContext: () => context, tryGetContext: (name) => context[name] } });
  const reader = new AccountReader(openAwsClients(options));
  await findRegion(reader);
  const caller = await findCaller(reader).catch(toNobody);
  const rows =
    'matter' in caller ? [caller] : await checkAccount(caller, { options, context, reader, command });
  command.print(options.json ? toJsonReport(rows) : formatReport(rows));
  return countRows(rows).mend === 0 ? 0 : 1;
}

interface AccountCheck {
  readonly options: CheckOptions;
  readonly context: { readonly [name: string]: unknown };
  readonly reader: AccountReader;
  readonly command: CheckHost;
}

async function checkAccount(caller: Caller, check: AccountCheck): Promise<Row[]> {
  const { options, context, reader, command } = check;
  command.note(`Looking at account ${caller.account}, region ${caller.region}: writing the templates first`);
  const plan = await command.plan(context);
  const subject = await findSubject(plan, { caller, reader });
  const { listChecks } = await import('./checks.ts');
  return runChecks(listChecks(subject, { readsValues: options.readsValues, now: new Date() }), reader);
}

async function findRegion(reader: AccountReader): Promise<void> {
  await reader.getRegion().catch((error: unknown) => {
    throw new CheckUsageError(
      `--region: expected a region here, in AWS_REGION or in the profile: ${getErrorMessage(error)}`,
    );
  });
}

/** Without credentials there is nothing to look at. */
function toNobody(error: unknown): Row {
  if (!(error instanceof NotReadError)) throw error;
  const next =
    'aws sts get-caller-identity must work: aws configure sso, aws sso login, AWS_PROFILE or --profile';
  return { matter: 'account', what: 'who asks', state: 'mend', found: error.message, next };
}
