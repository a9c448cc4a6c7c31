import type { Template } from 'aws-cdk-lib/assertions';

/** The templates of all stacks by name, as `synthesize` answers them. */
export type Assembly = ReadonlyMap<string, Template>;

interface Resource {
  readonly Type: string;
  readonly Properties?: { readonly [name: string]: unknown };
}

interface TemplateJson {
  readonly Resources?: { readonly [id: string]: Resource };
  readonly Outputs?: {
    readonly [id: string]: { readonly Value: unknown; readonly Export?: { readonly Name: unknown } };
  };
  readonly Parameters?: { readonly [id: string]: unknown };
}

/** "IAM and AWS STS quotas": characters of a managed policy, of all inline policies of a role, and managed policies of a role. */
const managedPolicyMax = 6_144;
const inlinePoliciesMax = 10_240;
const managedPoliciesMax = 10;
/** "Quotas for configuring and running a REST API": characters of the policy of an API, or of a private name. */
const apiPolicyMax = 8_192;
/** "CloudFormation quotas" of a template, and Lambda's of a function's variables. */
const resourcesMax = 500;
const outputsMax = 200;
const parametersMax = 200;
const templateBytesMax = 1_000_000;
const variablesBytesMax = 4_096;

/** Policies and roles that IAM would refuse: a sentence each. */
export function findLargePolicies(assembly: Assembly): string[] {
  return [...assembly].flatMap(([stack, template]) => {
    const resources = listResources(template);
    const inline = new Map<string, number>();
    const managed = new Map<string, number>();
    const problems: string[] = [];
    for (const [id, { Type, Properties = {} }] of resources) {
      const size = measure(Properties['PolicyDocument']);
      const roles = listRoles(Properties['Roles']);
      const door = measure(Properties['Policy']);
      if (/^AWS::ApiGateway::(RestApi|DomainNameV2)$/.test(Type) && door > apiPolicyMax)
        problems.push(`${stack}: the policy of ${id} has ${door} characters`);
      if (Type === 'AWS::IAM::Policy') for (const role of roles) add(inline, role, size);
      if (Type !== 'AWS::IAM::ManagedPolicy') continue;
      for (const role of roles) add(managed, role, 1);
      if (size > managedPolicyMax) problems.push(`${stack}: the managed policy ${id} has ${size} characters`);
    }
    for (const [role, size] of inline)
      if (size > inlinePoliciesMax)
        problems.push(`${stack}: the inline policies of ${role} have ${size} characters`);
    for (const [role, count] of managed)
      if (count > managedPoliciesMax) problems.push(`${stack}: ${role} has ${count} managed policies`);
    return problems;
  });
}

/** What CloudFormation and Lambda would refuse for its size: a sentence each. */
export function findLargeTemplates(assembly: Assembly): string[] {
  return [...assembly].flatMap(([stack, template]) => {
    const { Resources = {}, Outputs = {}, Parameters = {} } = toJson(template);
    const sizes: readonly (readonly [what: string, size: number, max: number])[] = [
      ['resources', Object.keys(Resources).length, resourcesMax],
      ['outputs', Object.keys(Outputs).length, outputsMax],
      ['parameters', Object.keys(Parameters).length, parametersMax],
      ['bytes', JSON.stringify(toJson(template)).length, templateBytesMax],
    ];
    const large = sizes
      .filter(([, size, max]) => size > max)
      .map(([what, size]) => `${stack}: ${size} ${what}`);
    const variables = listResources(template)
      .filter(([, { Type }]) => Type === 'AWS::Lambda::Function')
      .map(([id, { Properties }]) => [id, measure(Properties?.['Environment'])] as const)
      .filter(([, size]) => size > variablesBytesMax)
      .map(([id, size]) => `${stack}: the variables of ${id} take ${size} bytes`);
    return [...large, ...variables];
  });
}

/**
 * Exports that a deploy would have to take away, or to give another value, while a stack of before still imports them: CloudFormation
 * refuses that, and the stacks cannot go on.
 */
export function findExportLocks(before: Assembly, after: Assembly): string[] {
  const imported = new Map(
    [...before].flatMap(([stack, template]) => listImports(template).map((name) => [name, stack])),
  );
  const left = new Map([...after.values()].flatMap(listExports));
  return [...before].flatMap(([stack, template]) => {
    // A stack that is not deployed any more stays as it is.
    if (!after.has(stack)) return [];
    return listExports(template)
      .filter(([name, value]) => imported.has(name) && left.get(name) !== value)
      .map(([name]) => `${stack}: ${imported.get(name)} imports ${name}, which goes or changes`);
  });
}

/** What holds data, and would be made anew or go, with the data, when the options change. */
export function findLostData(before: Assembly, after: Assembly): string[] {
  return [...before].flatMap(([stack, template]) => {
    const next = after.get(stack);
    if (next === undefined) return [];
    const kept = new Map(listResources(next));
    return listResources(template)
      .filter(([, { Type }]) => identities.has(Type))
      .filter(([id, resource]) => !isSame(resource, kept.get(id)))
      .map(([id, { Type }]) => `${stack}: ${Type} ${id} would be another one`);
  });
}

/** What holds data, with the properties that CloudFormation changes only by making the resource anew. */
const identities: ReadonlyMap<string, readonly string[]> = new Map([
  ['AWS::DynamoDB::Table', ['TableName', 'KeySchema']],
  ['AWS::SQS::Queue', ['QueueName', 'FifoQueue']],
  ['AWS::Events::EventBus', ['Name']],
  ['AWS::ApiGateway::RestApi', []],
]);

/** The same of what is referred to by an id that AWS chooses. */
const referred: ReadonlyMap<string, readonly string[]> = new Map([
  ['AWS::EC2::SecurityGroup', ['VpcId', 'GroupDescription']],
  ['AWS::EC2::VPCEndpoint', ['VpcId', 'ServiceName']],
]);

function isSame({ Type, Properties }: Resource, other: Resource | undefined): boolean {
  if (other === undefined) return false;
  const names = identities.get(Type) ?? [];
  return names.every(
    (name) => JSON.stringify(Properties?.[name]) === JSON.stringify(other.Properties?.[name]),
  );
}

function toJson(template: Template): TemplateJson {
  return template.toJSON();
}

function listResources(template: Template): (readonly [id: string, resource: Resource])[] {
  return Object.entries(toJson(template).Resources ?? {});
}

function listRoles(roles: unknown): string[] {
  return Array.isArray(roles) ? roles.map((role) => JSON.stringify(role)) : [];
}

function add(sums: Map<string, number>, key: string, size: number): void {
  sums.set(key, (sums.get(key) ?? 0) + size);
}

/** Exports by name, each with what decides about its value. */
function listExports(template: Template): (readonly [name: string, value: string])[] {
  const resources = new Map(listResources(template));
  const identify = (_: string, part: unknown): unknown => {
    const { Type = '', Properties = {} } = resources.get(String(part)) ?? {};
    // As text: what is answered here is looked at again, member by member.
    return referred.has(Type)
      ? `${part} ${JSON.stringify(referred.get(Type)?.map((name) => Properties[name]))}`
      : part;
  };
  return Object.values(toJson(template).Outputs ?? {}).flatMap(({ Export, Value }) =>
    Export === undefined ? [] : [[JSON.stringify(Export.Name), JSON.stringify(Value, identify)] as const],
  );
}

function listImports(template: Template): string[] {
  return [...JSON.stringify(toJson(template)).matchAll(/\{"Fn::ImportValue":("[^"]+")\}/g)].map(
    ([, name = '']) => name,
  );
}

/** Characters of a value once it is deployed, white space aside; what only AWS knows counts as much as an ARN takes. */
function measure(value: unknown): number {
  return JSON.stringify(value ?? '', (_, part: unknown) => resolve(part)).length;
}

const unknownArn = 'x'.repeat(130);

function resolve(part: unknown): unknown {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
  const [[name, argument] = []] = Object.entries(part);
  if (name === 'Fn::Join' && Array.isArray(argument)) {
    const [separator, parts] = argument as [string, unknown[]];
    return parts.map((one) => String(resolve(one))).join(separator);
  }
  if (name === 'Ref') return String(argument).startsWith('AWS::') ? 'x'.repeat(14) : unknownArn;
  return name === 'Fn::GetAtt' || name === 'Fn::ImportValue' ? unknownArn : part;
}
