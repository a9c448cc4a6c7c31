import { App } from 'aws-cdk-lib';
import type { DeploymentPlan, PlannedStack } from '../../../infra/check/deployment-plan.ts';
import type { InstalledStack, Subject } from '../../../infra/check/subject.ts';
import type { Context } from '../../../infra/context.ts';
import { readContext } from '../../../infra/context-options.ts';
import { recordedOptions } from './deploy-check.ts';
import { recorded } from './recorded-answers.ts';

/** What differs from a first deploy of the recorded options. */
export interface SubjectChanges {
  readonly callerArn?: string;
  /** Stacks that there are: status by name. */
  readonly installed?: { readonly [name: string]: InstalledStack };
  readonly options?: { readonly [name: string]: unknown };
  readonly stacks?: readonly PlannedStack[];
}

/** What is planned, for whom and where: made without asking anybody and without synthesizing. */
export function makeSubject(changes: SubjectChanges = {}): Subject {
  const { callerArn = `arn:aws:sts::${recorded.account}:assumed-role/deployer/me`, installed = {} } = changes;
  return {
    plan: makePlan(makeContext(changes.options), changes.stacks ?? []),
    callerArn,
    account: recorded.account,
    region: recorded.region,
    partition: 'aws',
    installed: new Map(Object.entries(installed)),
  };
}

function makeContext(options: { readonly [name: string]: unknown } = {}): Context {
  const all = Object.entries({ ...recordedOptions, ...options }).filter(([, value]) => value !== undefined);
  return readContext(new App({ context: Object.fromEntries(all) }));
}

function makePlan(context: Context, stacks: readonly PlannedStack[]): DeploymentPlan {
  const bootstrap = { versionMin: 6, parameter: '/cdk-bootstrap/hnb659fds/version' };
  return { context, name: `${context.namePrefix}-${context.stage}`, stacks, bootstrap };
}
