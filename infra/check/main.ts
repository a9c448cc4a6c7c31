import { getErrorMessage } from '../../shared/core/errors.ts';
import { ContextError } from '../context-options.ts';
import { AccountReader, NotReadError } from './account-reader.ts';
import { openAwsClients } from './aws-clients.ts';
import { type CheckOptions, CheckUsageError, formatCheckHelp, parseCheckOptions } from './check-options.ts';
import { listChecks } from './checks.ts';
import { planDeployment, readContextFiles } from './deployment-plan.ts';
import { toReaderPolicy } from './reader-policy.ts';
import { countRows, formatReport, toJsonReport } from './report.ts';
import { type Row, runChecks } from './rows.ts';
import { findSubject } from './subject.ts';

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    const options = parseCheckOptions(args);
    if (options.help) return print(formatCheckHelp());
    if (options.printsPolicy) return print(JSON.stringify(toReaderPolicy(options.readsValues), undefined, 2));
    return await check(options);
  } catch (error) {
    if (!(error instanceof CheckUsageError || error instanceof ContextError)) throw error;
    // The operator's slip: its lines say all.
    console.error(error.message);
    if (error instanceof CheckUsageError) console.error('\nnpm run deploy:check -- --help');
    return 2;
  }
}

async function check(options: CheckOptions): Promise<number> {
  const reader = new AccountReader(openAwsClients(options));
  await findRegion(reader);
  const plan = planDeployment(readContextFiles(options.context));
  const { readsValues } = options;
  const rows = await findSubject(plan, reader).then(
    (subject) => runChecks(listChecks(subject, { readsValues, now: new Date() }), reader),
    toNobody,
  );
  print(options.json ? toJsonReport(rows) : formatReport(rows));
  return countRows(rows).mend === 0 ? 0 : 1;
}

async function findRegion(reader: AccountReader): Promise<void> {
  await reader.getRegion().catch((error: unknown) => {
    throw new CheckUsageError(
      `--region: expected a region here, in AWS_REGION or in the profile: ${getErrorMessage(error)}`,
    );
  });
}

/** Without credentials there is nothing to look at. */
function toNobody(error: unknown): Row[] {
  if (!(error instanceof NotReadError)) throw error;
  const next =
    'aws sts get-caller-identity must work: aws configure sso, aws sso login, AWS_PROFILE or --profile';
  return [{ matter: 'account', what: 'who asks', state: 'mend', found: error.message, next }];
}

function print(text: string): number {
  console.log(text);
  return 0;
}
