import type { Stack } from '@aws-sdk/client-cloudformation';
import type { Account } from './account-reads.ts';
import type { DeploymentPlan, PlannedStack } from './deployment-plan.ts';

/** The caller, and where. */
export interface Caller {
  readonly callerArn: string;
  /** The AWS account, 12 digits. */
  readonly account: string;
  readonly region: string;
  /** Such as `aws`. */
  readonly partition: string;
}

/** What is planned, for whom and where, and how the account is read. */
export interface Subject extends Caller {
  readonly plan: DeploymentPlan;
  readonly reads: Account['reads'];
  /** The stacks of the plan that there are, by name. Rejects with NotReadError where it may not be asked. */
  readonly installed: Promise<ReadonlyMap<string, Stack>>;
}

/** Asks who asks. @throws NotReadError without credentials that AWS takes; Error without a region */
export async function findCaller({ getRegion, reads }: Account): Promise<Caller> {
  const region = await getRegion();
  const { Account: account = '', Arn: callerArn = '' } = await reads.getCallerIdentity.get({});
  const [, partition = 'aws'] = callerArn.split(':');
  return { callerArn, account, region, partition };
}

/** Asks which stacks of the plan there are already. @throws NotReadError */
export async function findInstalled(
  { stacks }: DeploymentPlan,
  { describeStacks }: Pick<Account['reads'], 'describeStacks'>,
): Promise<ReadonlyMap<string, Stack>> {
  const answers = await Promise.all(stacks.map(({ name }) => describeStacks.find({ StackName: name })));
  const there = answers.flatMap((answer) => answer?.Stacks ?? []);
  return new Map(
    there
      .filter(({ StackStatus }) => StackStatus !== 'DELETE_COMPLETE')
      .map((stack) => [stack.StackName ?? '', stack]),
  );
}

/** A stack whose resources are not made, or were taken back: it is as good as none. */
const emptyStatuses = ['REVIEW_IN_PROGRESS', 'ROLLBACK_COMPLETE', 'ROLLBACK_FAILED'];

/** The stacks of the plan whose resources are still to be made. @throws NotReadError where it is not known which there are */
export async function findNewStacks({
  plan,
  installed,
}: Pick<Subject, 'plan' | 'installed'>): Promise<PlannedStack[]> {
  const there = await installed;
  return plan.stacks.filter(({ name }) => {
    const { StackStatus } = there.get(name) ?? {};
    return StackStatus === undefined || emptyStatuses.includes(StackStatus);
  });
}
