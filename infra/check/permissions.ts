import { type AccountReader, NotReadError } from './account-reader.ts';
import { accountReads } from './account-reads.ts';
import type { DeploymentPlan } from './deployment-plan.ts';
import { toBootstrapCommand } from './identity.ts';
import { neededActions } from './permissions-data.ts';
import { type Check, defineCheck, type Finding, mend, ok, unchecked } from './rows.ts';
import type { Subject } from './subject.ts';

const matter = 'permissions';

/** Actions that a row names; others are counted. */
const actionsMax = 6;

/** What IAM's simulation leaves out, for people. */
const caveat =
  'as IAM simulates it, which knows no session policies, no conditions and not every policy of an organization';

/** A question to IAM's simulation. */
export interface SimulatedCall {
  readonly action: string;
  readonly resource: string;
}

/** What IAM's simulation says. */
export interface SimulatedDecision extends SimulatedCall {
  readonly isAllowed: boolean;
}

/** Whether who deploys, and the role with which CloudFormation works, may do what the templates need. */
export function listPermissionChecks(subject: Subject): readonly Check[] {
  const executionRole = toBootstrapRole(subject, 'cfn-exec-role');
  return [
    defineCheck({
      matter,
      what: 'roles of CDK, by whoever asks',
      gather: (reader) => simulateCaller(subject, reader),
      judge: (decisions) => [judgeCallerRights(decisions, subject)],
    }),
    defineCheck({
      matter,
      what: 'what CloudFormation must do',
      gather: (reader) => simulateExecution(subject, executionRole, reader),
      judge: (decisions) => [judgeExecutionRights(decisions, { subject, executionRole })],
    }),
  ];
}

/** What CloudFormation does on which resources to make a plan's. */
export function listNeededCalls(plan: DeploymentPlan, toArn: (resource: string) => string): SimulatedCall[] {
  const types = new Set(plan.stacks.flatMap(({ resources }) => resources.map(({ type }) => type)));
  return [...types]
    .flatMap((type) => (neededActions[type] === undefined ? [] : [neededActions[type]]))
    .flatMap(({ actions, resource }) =>
      actions.map((action) => ({ action, resource: toArn(resource(plan.name)) })),
    );
}

/** May who asks assume the roles with which CDK publishes files and deploys? */
export function judgeCallerRights(
  decisions: readonly SimulatedDecision[] | undefined,
  subject: Subject,
): Finding {
  if (decisions === undefined) {
    return unchecked(`IAM simulates nothing for ${subject.callerArn}`, 'try npx cdk diff --all');
  }
  const denied = decisions.filter(({ isAllowed }) => !isAllowed);
  if (denied.length === 0) return ok(`sts:AssumeRole is allowed, ${caveat}`);
  return mend(
    `sts:AssumeRole is denied on ${denied.map(({ resource }) => resource).join(', ')}, ${caveat}`,
    `allow sts:AssumeRole on ${toBootstrapRole(subject, '*')} to ${subject.callerArn}`,
  );
}

/** May CloudFormation's role do what the templates need? */
export function judgeExecutionRights(
  decisions: readonly SimulatedDecision[] | undefined,
  { subject, executionRole }: { readonly subject: Subject; readonly executionRole: string },
): Finding {
  if (decisions === undefined) {
    return mend(`there is no role ${executionRole}`, toBootstrapCommand(subject));
  }
  const denied = decisions.filter(({ isAllowed }) => !isAllowed);
  if (denied.length === 0) return ok(`${decisions.length} actions are allowed, ${caveat}`);
  const actions = denied.map(({ action, resource }) => `${action} on ${resource}`);
  const shown = actions.slice(0, actionsMax).join(', ');
  const left = actions.length > actionsMax ? ` and ${actions.length - actionsMax} more` : '';
  return mend(
    `denied to ${executionRole}: ${shown}${left}, ${caveat}`,
    'bootstrap again with --cloudformation-execution-policies that allow it',
  );
}

async function simulateExecution(
  subject: Subject,
  executionRole: string,
  reader: AccountReader,
): Promise<SimulatedDecision[] | undefined> {
  const role = await reader.find(accountReads.getRole, { RoleName: toRoleName(executionRole) });
  if (role === undefined) return undefined;
  return simulate(
    reader,
    executionRole,
    listNeededCalls(subject.plan, (resource) => toArn(subject, resource)),
  );
}

async function simulateCaller(
  subject: Subject,
  reader: AccountReader,
): Promise<SimulatedDecision[] | undefined> {
  const principal = await findPrincipal(subject, reader);
  if (principal === undefined) return undefined;
  const roles = ['deploy-role', 'file-publishing-role'].map((role) => toBootstrapRole(subject, role));
  const calls = roles.map((resource) => ({ action: 'sts:AssumeRole', resource }));
  return simulate(reader, principal, calls);
}

/** Whose policies count for whoever asks: of a session its role, whose path only IAM knows. */
async function findPrincipal({ callerArn }: Subject, reader: AccountReader): Promise<string | undefined> {
  if (/:user\//.test(callerArn)) return callerArn;
  const [, RoleName] = /:assumed-role\/([^/]+)\//.exec(callerArn) ?? [];
  if (RoleName === undefined) return undefined;
  return (await reader.get(accountReads.getRole, { RoleName })).Role?.Arn;
}

/** Asks resource by resource, for IAM would ask each action about each of them. */
async function simulate(
  reader: AccountReader,
  principal: string,
  calls: readonly SimulatedCall[],
): Promise<SimulatedDecision[]> {
  const groups = Map.groupBy(calls, ({ resource }) => resource);
  const answers = await Promise.all(
    [...groups].map(async ([resource, group]) => {
      const { EvaluationResults = [], IsTruncated } = await reader.get(accountReads.simulatePrincipalPolicy, {
        PolicySourceArn: principal,
        ActionNames: [...new Set(group.map(({ action }) => action))],
        ResourceArns: [resource],
      });
      if (IsTruncated === true) throw new NotReadError('IAM answers more than was asked');
      return EvaluationResults.map(({ EvalActionName: action = '', EvalDecision }) => ({
        action,
        resource,
        isAllowed: EvalDecision === 'allowed',
      }));
    }),
  );
  return answers.flat();
}

/** `lambda:function:x` becomes the whole ARN; roles and policies have no region, API Gateway's resources no account. */
function toArn({ partition, region, account }: Subject, resource: string): string {
  if (resource === '*') return resource;
  const [, service = '', rest = ''] = /^([a-z0-9]+):(.*)$/.exec(resource) ?? [];
  if (service === 'apigateway') return `arn:${partition}:apigateway:${region}:${rest}`;
  return `arn:${partition}:${service}:${service === 'iam' ? '' : region}:${account}:${rest}`;
}

/** The ARN of a role that CDK's bootstrap makes. */
function toBootstrapRole({ plan, partition, account, region }: Subject, role: string): string {
  const [, , qualifier = ''] = plan.bootstrap.parameter.split('/');
  return `arn:${partition}:iam::${account}:role/cdk-${qualifier}-${role}-${account}-${region}`;
}

function toRoleName(arn: string): string {
  return arn.slice(arn.lastIndexOf('/') + 1);
}
