/** What CloudFormation's execution role needs for resources of a type. */
export interface NeededActions {
  /** IAM's names; those without which a first deploy fails. */
  readonly actions: readonly string[];
  /** On what they are asked for: the part of the ARN behind the account; `*` where IAM knows no narrower resource. */
  readonly resource: (name: string) => string;
}

const any = () => '*';

/**
 * By type of the templates. It tells what making one takes, and not everything that changing and deleting it takes: the role of a
 * bootstrap without further options may do all of it.
 */
export const neededActions: { readonly [type: string]: NeededActions } = {
  'AWS::ApiGateway::Account': { actions: ['apigateway:PATCH'], resource: () => 'apigateway::/account' },
  'AWS::ApiGateway::Authorizer': { actions: [], resource: any },
  'AWS::ApiGateway::BasePathMapping': { actions: [], resource: any },
  'AWS::ApiGateway::BasePathMappingV2': { actions: [], resource: any },
  'AWS::ApiGateway::Deployment': { actions: [], resource: any },
  'AWS::ApiGateway::DomainName': { actions: ['apigateway:POST'], resource: () => 'apigateway::/domainnames' },
  'AWS::ApiGateway::DomainNameAccessAssociation': {
    actions: ['apigateway:POST'],
    resource: () => 'apigateway::/domainnameaccessassociations',
  },
  'AWS::ApiGateway::DomainNameV2': {
    actions: ['apigateway:POST'],
    resource: () => 'apigateway::/domainnames',
  },
  'AWS::ApiGateway::RestApi': { actions: ['apigateway:POST'], resource: () => 'apigateway::/restapis' },
  'AWS::ApiGateway::Stage': { actions: [], resource: any },
  // Those of HTTP and WebSocket APIs: what belongs to one is made below it.
  'AWS::ApiGatewayV2::Api': { actions: ['apigateway:POST'], resource: () => 'apigateway::/apis' },
  'AWS::ApiGatewayV2::ApiMapping': { actions: [], resource: any },
  'AWS::ApiGatewayV2::Authorizer': { actions: [], resource: any },
  'AWS::ApiGatewayV2::DomainName': {
    actions: ['apigateway:POST'],
    resource: () => 'apigateway::/domainnames',
  },
  'AWS::ApiGatewayV2::Integration': { actions: [], resource: any },
  'AWS::ApiGatewayV2::IntegrationResponse': { actions: [], resource: any },
  'AWS::ApiGatewayV2::Route': { actions: [], resource: any },
  'AWS::ApiGatewayV2::RouteResponse': { actions: [], resource: any },
  'AWS::ApiGatewayV2::Stage': { actions: ['logs:CreateLogDelivery'], resource: any },
  'AWS::CloudFormation::Stack': {
    actions: ['cloudformation:CreateStack'],
    resource: (name) => `cloudformation:stack/${name}-api-nested/*`,
  },
  'AWS::CloudWatch::Alarm': {
    actions: ['cloudwatch:PutMetricAlarm'],
    resource: (name) => `cloudwatch:alarm:${name}-api-server-errors`,
  },
  'AWS::CloudWatch::Dashboard': { actions: ['cloudwatch:PutDashboard'], resource: any },
  'AWS::DynamoDB::Table': {
    actions: ['dynamodb:CreateTable', 'dynamodb:UpdateContinuousBackups', 'dynamodb:UpdateTimeToLive'],
    resource: (name) => `dynamodb:table/${name}-tasks`,
  },
  'AWS::EC2::SecurityGroup': { actions: ['ec2:CreateSecurityGroup'], resource: any },
  'AWS::EC2::SecurityGroupEgress': { actions: ['ec2:AuthorizeSecurityGroupEgress'], resource: any },
  'AWS::EC2::SecurityGroupIngress': { actions: ['ec2:AuthorizeSecurityGroupIngress'], resource: any },
  'AWS::EC2::VPCEndpoint': { actions: ['ec2:CreateVpcEndpoint'], resource: any },
  'AWS::Events::Archive': {
    actions: ['events:CreateArchive'],
    resource: (name) => `events:archive/${name}-events`,
  },
  'AWS::Events::EventBus': {
    actions: ['events:CreateEventBus'],
    resource: (name) => `events:event-bus/${name}`,
  },
  'AWS::Events::Rule': {
    actions: ['events:PutRule', 'events:PutTargets'],
    resource: (name) => `events:rule/${name}-sweep-tasks`,
  },
  'AWS::IAM::ManagedPolicy': {
    actions: ['iam:CreatePolicy'],
    resource: (name) => `iam:policy/${name}-operations-policy`,
  },
  'AWS::IAM::Policy': {
    actions: ['iam:PutRolePolicy'],
    resource: (name) => `iam:role/${name}-operations-role`,
  },
  'AWS::IAM::Role': {
    actions: ['iam:CreateRole', 'iam:PassRole'],
    resource: (name) => `iam:role/${name}-operations-role`,
  },
  'AWS::KMS::Alias': { actions: ['kms:CreateAlias'], resource: (name) => `kms:alias/${name}-data` },
  'AWS::KMS::Key': { actions: ['kms:CreateKey'], resource: any },
  'AWS::Lambda::EventSourceMapping': { actions: ['lambda:CreateEventSourceMapping'], resource: any },
  'AWS::Lambda::Function': {
    actions: ['lambda:CreateFunction', 'lambda:PutFunctionConcurrency'],
    resource: (name) => `lambda:function:${name}-run-operations`,
  },
  'AWS::Lambda::Permission': {
    actions: ['lambda:AddPermission'],
    resource: (name) => `lambda:function:${name}-sweep-tasks`,
  },
  'AWS::Logs::LogGroup': {
    actions: ['logs:CreateLogGroup', 'logs:PutRetentionPolicy'],
    resource: (name) => `logs:log-group:/aws/lambda/${name}-health`,
  },
  'AWS::Logs::MetricFilter': {
    actions: ['logs:PutMetricFilter'],
    resource: (name) => `logs:log-group:/aws/lambda/${name}-health`,
  },
  'AWS::Logs::ResourcePolicy': { actions: ['logs:PutResourcePolicy'], resource: any },
  'AWS::SQS::Queue': { actions: ['sqs:CreateQueue'], resource: (name) => `sqs:${name}-operations` },
  'AWS::SQS::QueuePolicy': {
    actions: ['sqs:SetQueueAttributes'],
    resource: (name) => `sqs:${name}-operations`,
  },
  'AWS::SSM::Parameter': {
    actions: ['ssm:PutParameter'],
    resource: (name) => `ssm:parameter/${name}/key-arn`,
  },
  'AWS::SecretsManager::Secret': {
    actions: ['secretsmanager:CreateSecret'],
    resource: (name) => `secretsmanager:secret:${name}-config-AbCdEf`,
  },
};
