import { type AccountReader, NotReadError } from './account-reader.ts';
import { accountReads } from './account-reads.ts';
import type { DeploymentPlan, PlannedStack } from './deployment-plan.ts';

/** Who asks, and where. */
export interface Caller {
  readonly callerArn: string;
  /** The AWS account, 12 digits. */
  readonly account: string;
  readonly region: string;
  /** Such as `aws`. */
  readonly partition: string;
}

/** What is planned, for whom and where. */
export interface Subject extends Caller {
  readonly plan: DeploymentPlan;
  /** What CloudFormation says of each stack of the plan; undefined where it may not be asked. */
  readonly installed: ReadonlyMap<string, InstalledStack> | undefined;
}

/** A stack that there is. */
export interface InstalledStack {
  /** Such as `UPDATE_COMPLETE`. */
  readonly status: string;
  /** Why, where CloudFormation says it. */
  readonly reason: string | undefined;
}

/** Asks who asks. @throws NotReadError without credentials that AWS takes; Error without a region */
export async function findCaller(reader: AccountReader): Promise<Caller> {
  const region = await reader.getRegion();
  const { Account: account = '', Arn: callerArn = '' } = await reader.get(accountReads.getCallerIdentity, {});
  const [, partition = 'aws'] = callerArn.split(':');
  return { callerArn, account, region, partition };
}

/** Asks which stacks of the plan there are already. */
export async function findSubject(
  plan: DeploymentPlan,
  { caller, reader }: { readonly caller: Caller; readonly reader: AccountReader },
): Promise<Subject> {
  return { ...caller, plan, installed: await findInstalled(plan, reader) };
}

async function findInstalled(plan: DeploymentPlan, reader: AccountReader): Promise<Subject['installed']> {
  try {
    const entries = await Promise.all(
      plan.stacks.map(async ({ name }) => [name, await findStack(name, reader)] as const),
    );
    return new Map(entries.flatMap(([name, stack]) => (stack === undefined ? [] : [[name, stack]])));
  } catch (error) {
    if (error instanceof NotReadError) return undefined;
    throw error;
  }
}

/** What CloudFormation says of a stack; undefined where there is none. @throws NotReadError */
export async function findStack(name: string, reader: AccountReader): Promise<InstalledStack | undefined> {
  const answer = await reader.find(accountReads.describeStacks, { StackName: name });
  const stack = answer?.Stacks?.find(({ StackStatus }) => StackStatus !== 'DELETE_COMPLETE');
  if (stack === undefined) return undefined;
  return { status: stack.StackStatus ?? '', reason: stack.StackStatusReason };
}

/** A stack whose resources are not made, or were taken back: it is as good as none. */
const emptyStatuses = ['REVIEW_IN_PROGRESS', 'ROLLBACK_COMPLETE', 'ROLLBACK_FAILED'];

/**
 * The stacks of the plan whose resources are still to be made.
 *
 * @throws NotReadError where it is not known which there are
 */
export function listNewStacks({ plan, installed }: Subject): readonly PlannedStack[] {
  if (installed === undefined) {
    const action = accountReads.describeStacks.action;
    throw new NotReadError(`needs ${action}: it is not known what is deployed already`, action);
  }
  return plan.stacks.filter(({ name }) => {
    const status = installed.get(name)?.status;
    return status === undefined || emptyStatuses.includes(status);
  });
}
