import { NotReadError } from './account-calls.ts';
import { toBootstrapCommand } from './identity.ts';
import { type Check, type Finding, mend, ok, unchecked } from './rows.ts';
import type { Subject } from './subject.ts';

/** Actions that a row names; others are counted. */
const actionsMax = 6;

/** What IAM's simulation leaves out, for people. */
const caveat =
  'as IAM simulates it, which knows no session policies, no conditions and not every policy of an organization';

/** A question to IAM's simulation. */
interface SimulatedCall {
  readonly action: string;
  /** An ARN, or `*`. */
  readonly resource: string;
}

/**
 * The actions that make a resource of a type, and on what they are asked for: the part of the ARN behind the account, or `*` where IAM
 * knows no narrower resource. What has no action of its own, and changing and deleting, is not asked: the role of a bootstrap
 * without further options may do all of it.
 */
const neededCalls: { readonly [type: string]: readonly [resource: string, ...actions: string[]] } = {
  'AWS::ApiGateway::Account': ['/account', 'apigateway:PATCH'],
  'AWS::ApiGateway::DomainName': ['/domainnames', 'apigateway:POST'],
  'AWS::ApiGateway::DomainNameAccessAssociation': ['/domainnameaccessassociations', 'apigateway:POST'],
  'AWS::ApiGateway::DomainNameV2': ['/domainnames', 'apigateway:POST'],
  'AWS::ApiGateway::RestApi': ['/restapis', 'apigateway:POST'],
  'AWS::ApiGatewayV2::Api': ['/apis', 'apigateway:POST'],
  'AWS::ApiGatewayV2::DomainName': ['/domainnames', 'apigateway:POST'],
  'AWS::ApiGatewayV2::Stage': ['*', 'logs:CreateLogDelivery'],
  'AWS::CloudFormation::Stack': ['stack/NAME-api-nested/*', 'cloudformation:CreateStack'],
  'AWS::CloudWatch::Alarm': ['alarm:NAME-api-server-errors', 'cloudwatch:PutMetricAlarm'],
  'AWS::CloudWatch::Dashboard': ['*', 'cloudwatch:PutDashboard'],
  'AWS::DynamoDB::Table': ['table/NAME-tasks', 'dynamodb:CreateTable'],
  'AWS::EC2::SecurityGroup': ['*', 'ec2:CreateSecurityGroup'],
  'AWS::EC2::VPCEndpoint': ['*', 'ec2:CreateVpcEndpoint'],
  'AWS::Events::Archive': ['archive/NAME-events', 'events:CreateArchive'],
  'AWS::Events::EventBus': ['event-bus/NAME', 'events:CreateEventBus'],
  'AWS::Events::Rule': ['rule/NAME-sweep-tasks', 'events:PutRule', 'events:PutTargets'],
  'AWS::IAM::ManagedPolicy': ['policy/NAME-operations-policy', 'iam:CreatePolicy'],
  'AWS::IAM::Policy': ['role/NAME-operations-role', 'iam:PutRolePolicy'],
  'AWS::IAM::Role': ['role/NAME-operations-role', 'iam:CreateRole', 'iam:PassRole'],
  'AWS::KMS::Key': ['*', 'kms:CreateKey'],
  'AWS::Lambda::EventInvokeConfig': ['function:NAME-sweep-tasks', 'lambda:PutFunctionEventInvokeConfig'],
  'AWS::Lambda::EventSourceMapping': ['*', 'lambda:CreateEventSourceMapping'],
  'AWS::Lambda::Function': ['function:NAME-run-operations', 'lambda:CreateFunction'],
  'AWS::Lambda::Permission': ['function:NAME-sweep-tasks', 'lambda:AddPermission'],
  'AWS::Logs::LogGroup': ['log-group:/aws/lambda/NAME-health', 'logs:CreateLogGroup'],
  'AWS::Logs::ResourcePolicy': ['*', 'logs:PutResourcePolicy'],
  'AWS::SQS::Queue': ['NAME-operations', 'sqs:CreateQueue'],
  'AWS::SSM::Parameter': ['parameter/NAME/key-arn', 'ssm:PutParameter'],
  'AWS::SecretsManager::Secret': ['secret:NAME-config-AbCdEf', 'secretsmanager:CreateSecret'],
};

/** Whether the deployer, and the role with which CloudFormation works, may do what the templates need. */
export function listPermissionChecks(subject: Subject): readonly Check[] {
  return [
    { what: 'roles of CDK, by whoever asks', find: () => checkCaller(subject) },
    { what: 'what CloudFormation must do', find: () => checkExecutionRole(subject) },
  ];
}

/** May the caller assume the roles with which CDK publishes files and deploys? */
async function checkCaller(subject: Subject): Promise<Finding> {
  const { callerArn } = subject;
  const principal = await findPrincipal(subject);
  if (principal === undefined)
    return unchecked(`IAM simulates nothing for ${callerArn}`, 'try npx cdk diff --all');
  const roles = ['deploy-role', 'file-publishing-role'].map((role) => toBootstrapRole(subject, role));
  const calls = roles.map((resource) => ({ action: 'sts:AssumeRole', resource }));
  const denied = await findDenied(calls, principal, subject);
  if (denied.length === 0) return ok(`sts:AssumeRole is allowed, ${caveat}`);
  return mend(
    `sts:AssumeRole is denied on ${denied.map(({ resource }) => resource).join(', ')}, ${caveat}`,
    `allow sts:AssumeRole on ${toBootstrapRole(subject, '*')} to ${callerArn}`,
  );
}

/** May CloudFormation's role do what the templates need? */
async function checkExecutionRole(subject: Subject): Promise<Finding> {
  const role = toBootstrapRole(subject, 'cfn-exec-role');
  const there = await subject.reads.getRole.find({ RoleName: role.slice(role.lastIndexOf('/') + 1) });
  if (there === undefined) return mend(`there is no role ${role}`, toBootstrapCommand(subject));
  const calls = listNeededCalls(subject);
  const denied = await findDenied(calls, role, subject);
  if (denied.length === 0) return ok(`${calls.length} actions are allowed, ${caveat}`);
  const actions = denied.map(({ action, resource }) => `${action} on ${resource}`);
  const left = actions.length > actionsMax ? ` and ${actions.length - actionsMax} more` : '';
  return mend(
    `denied to ${role}: ${actions.slice(0, actionsMax).join(', ')}${left}, ${caveat}`,
    'bootstrap again with --cloudformation-execution-policies that allow it',
  );
}

function listNeededCalls(subject: Subject): SimulatedCall[] {
  const { name, stacks } = subject.plan;
  const types = new Set(stacks.flatMap(({ resources }) => resources.map(({ type }) => type)));
  return [...types].flatMap((type) => {
    const [resource = '', ...actions] = neededCalls[type] ?? [];
    return actions.map((action) => ({
      action,
      resource: toArn(subject, action, resource.replace('NAME', name)),
    }));
  });
}

/** Roles and policies have no region, API Gateway's resources no account. */
function toArn({ partition, region, account }: Subject, action: string, resource: string): string {
  if (resource === '*') return resource;
  const [service] = action.split(':');
  const where = service === 'apigateway' ? `${region}:` : `${service === 'iam' ? '' : region}:${account}`;
  return `arn:${partition}:${service}:${where}:${resource}`;
}

/** The principal whose policies count for the caller: of a session its role, whose path only IAM knows. */
async function findPrincipal({ callerArn, reads }: Subject): Promise<string | undefined> {
  if (/:user\//.test(callerArn)) return callerArn;
  const [, RoleName] = /:assumed-role\/([^/]+)\//.exec(callerArn) ?? [];
  if (RoleName === undefined) return undefined;
  return (await reads.getRole.get({ RoleName })).Role?.Arn;
}

/** Asks resource by resource, for IAM would ask each action about each of them. */
async function findDenied(
  calls: readonly SimulatedCall[],
  principal: string,
  { reads }: Subject,
): Promise<SimulatedCall[]> {
  const groups = [...Map.groupBy(calls, ({ resource }) => resource)];
  const denied = groups.map(async ([resource, group]) => {
    const { EvaluationResults = [], IsTruncated } = await reads.simulatePrincipalPolicy.get({
      PolicySourceArn: principal,
      ActionNames: [...new Set(group.map(({ action }) => action))],
      ResourceArns: [resource],
    });
    if (IsTruncated === true) throw new NotReadError('IAM answers more than was asked');
    return EvaluationResults.filter(({ EvalDecision }) => EvalDecision !== 'allowed').map(
      ({ EvalActionName: action = '' }) => ({ action, resource }),
    );
  });
  return (await Promise.all(denied)).flat();
}

/** The ARN of a role that CDK's bootstrap makes. */
function toBootstrapRole({ plan, partition, account, region }: Subject, role: string): string {
  const [, , qualifier = ''] = plan.bootstrap.parameter.split('/');
  return `arn:${partition}:iam::${account}:role/cdk-${qualifier}-${role}-${account}-${region}`;
}
