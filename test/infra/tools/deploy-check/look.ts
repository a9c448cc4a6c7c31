import { readContext } from '#infra/aws/context/context-options.ts';
import { openAccount } from '#infra/tools/deploy-check/account-reads.ts';
import type { DeploymentPlan, PlannedStack } from '#infra/tools/deploy-check/deployment-plan.ts';
import { type Check, type Row, runCheck } from '#infra/tools/deploy-check/rows.ts';
import { findInstalled, type Subject } from '#infra/tools/deploy-check/subject.ts';
import type { Answers } from './answer-forms.ts';
import { recordedOptions, useAccount } from './deploy-check.ts';
import { startRecordedAccount } from './recorded-account.ts';
import { recorded } from './recorded-answers.ts';

/** What differs from a first deploy of the recorded options into an account that is ready. */
export interface LookChanges {
  readonly answers?: Answers;
  readonly options?: { readonly [name: string]: string | undefined };
  readonly callerArn?: string;
  /** Default: a data stack without resources. */
  readonly stacks?: readonly PlannedStack[];
}

/** Looks at one matter of the recorded account, without synthesizing. */
export async function look(
  list: (subject: Subject) => readonly Check[],
  changes: LookChanges = {},
): Promise<Row[]> {
  await using account = await startRecordedAccount(changes.answers);
  using _ = useAccount(account);
  const { reads } = openAccount({});
  const { callerArn = `arn:aws:sts::${recorded.account}:assumed-role/deployer/me` } = changes;
  const plan = makePlan(changes);
  const place = { account: recorded.account, region: recorded.region, partition: 'aws' };
  const installed = findInstalled(plan, reads);
  const checks = list({ ...place, plan, reads, callerArn, installed });
  const rows = await Promise.all(checks.map((check) => runCheck('matter', check)));
  // Where no check asks for it.
  await installed;
  return rows.flat();
}

function makePlan({ options = {}, stacks = [] }: LookChanges): DeploymentPlan {
  const given: { readonly [name: string]: string | undefined } = { ...recordedOptions, ...options };
  const context = readContext({ node: { getAllContext: () => given, tryGetContext: (name) => given[name] } });
  const bootstrap = { versionMin: 6, parameter: '/cdk-bootstrap/hnb659fds/version' };
  const name = `${context.namePrefix}-${context.stage}`;
  return { context, name, bootstrap, stacks: [{ name: `${name}-data`, resources: [] }, ...stacks] };
}
