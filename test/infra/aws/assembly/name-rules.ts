import type { Template } from 'aws-cdk-lib/assertions';

/** The property with a resource's name, and the characters that its service takes. */
const nameLimits: { readonly [type: string]: readonly [property: string, max: number] } = {
  'AWS::CloudWatch::Alarm': ['AlarmName', 255],
  'AWS::CloudWatch::Dashboard': ['DashboardName', 255],
  'AWS::DynamoDB::Table': ['TableName', 255],
  'AWS::Events::Archive': ['ArchiveName', 48],
  'AWS::Events::EventBus': ['Name', 256],
  'AWS::Events::Rule': ['Name', 64],
  'AWS::IAM::ManagedPolicy': ['ManagedPolicyName', 128],
  'AWS::IAM::Role': ['RoleName', 64],
  'AWS::KMS::Alias': ['AliasName', 256],
  'AWS::Lambda::Function': ['FunctionName', 64],
  'AWS::Logs::LogGroup': ['LogGroupName', 512],
  'AWS::Scheduler::Schedule': ['Name', 64],
  'AWS::SecretsManager::Secret': ['Name', 512],
  'AWS::SQS::Queue': ['QueueName', 80],
  'AWS::SSM::Parameter': ['Name', 1_011],
};

/** Names that their service would refuse for their length: a sentence each. Names that CloudFormation makes up are short enough. */
export function findLongNames(assembly: ReadonlyMap<string, Pick<Template, 'toJSON'>>): string[] {
  return [...assembly].flatMap(([stack, template]) => {
    const resources: { readonly [id: string]: Resource } = template.toJSON()['Resources'] ?? {};
    return Object.values(resources).flatMap(({ Type, Properties }) => {
      const [property = '', max = 0] = nameLimits[Type] ?? [];
      const name = Properties?.[property];
      if (typeof name !== 'string' || name.length <= max) return [];
      return [`${stack}: the name of ${name} has ${name.length} characters, and may have ${max}`];
    });
  });
}

interface Resource {
  readonly Type: string;
  readonly Properties?: { readonly [name: string]: unknown };
}
