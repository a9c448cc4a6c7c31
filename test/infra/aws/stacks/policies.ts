import type { Template } from 'aws-cdk-lib/assertions';

/** One statement of a policy, with lists where CloudFormation allows a single value. */
export interface Statement {
  readonly effect: string;
  readonly actions: readonly string[];
  /** Resources as JSON text, references and all. */
  readonly resources: readonly string[];
  /** Patterns of the only partition keys that it is about; undefined for all. */
  readonly leadingKeys: readonly string[] | undefined;
  /** Services by way of which alone it holds, such as `dynamodb`; undefined for all. */
  readonly viaServices: readonly string[] | undefined;
}

interface Resource {
  readonly Type: string;
  readonly Properties: { readonly [name: string]: unknown };
}

interface LeadingKeys {
  readonly 'dynamodb:LeadingKeys'?: string | readonly string[];
}

interface RawStatement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: {
    readonly 'ForAllValues:StringLike'?: LeadingKeys;
    readonly 'ForAllValues:StringEquals'?: LeadingKeys;
    readonly 'ForAnyValue:StringLike'?: LeadingKeys;
    readonly StringEquals?: { readonly 'kms:ViaService'?: unknown };
  };
}

/** What functions may do, by their names behind prefix and stage. */
export function getFunctionStatements(
  templates: Iterable<Template>,
): ReadonlyMap<string, readonly Statement[]> {
  const statements = new Map<string, readonly Statement[]>();
  for (const template of templates) {
    const resources = getResources(template);
    for (const { Type, Properties } of resources.values()) {
      if (Type !== 'AWS::Lambda::Function') continue;
      const name = String(Properties['FunctionName']).replace(/^busdriver-dev-/, '');
      statements.set(name, findStatements(resources, Properties['Role']));
    }
  }
  return statements;
}

/** Resources of a template by logical id. */
export function getResources(template: Template): ReadonlyMap<string, Resource> {
  const { Resources } = template.toJSON() as { Resources: { readonly [id: string]: Resource } };
  return new Map(Object.entries(Resources));
}

/** The statements of the role that a function refers to; it must have no other policies. */
function findStatements(resources: ReadonlyMap<string, Resource>, roleArn: unknown): readonly Statement[] {
  const [id = ''] = (roleArn as { 'Fn::GetAtt': readonly string[] })['Fn::GetAtt'];
  const role = resources.get(id);
  if (role?.Properties['ManagedPolicyArns'] || role?.Properties['Policies'])
    throw new Error(`${id} has more policies`);
  return [...resources.values()]
    .filter((resource) => isPolicy(resource) && isAttached(resource.Properties['Roles'], id))
    .flatMap(toStatements);
}

/** What does not fit into the first policy of a role stands in managed ones. */
function isPolicy({ Type }: Resource): boolean {
  return Type === 'AWS::IAM::Policy' || Type === 'AWS::IAM::ManagedPolicy';
}

function isAttached(roles: unknown, id: string): boolean {
  return (roles as readonly { Ref: string }[]).some(({ Ref }) => Ref === id);
}

function toStatements({ Properties }: Resource): readonly Statement[] {
  const { Statement } = Properties['PolicyDocument'] as { Statement: readonly RawStatement[] };
  return Statement.map(({ Effect, Action, Resource, Condition }) => {
    const {
      'ForAllValues:StringLike': patterns,
      'ForAllValues:StringEquals': values,
      'ForAnyValue:StringLike': any,
    } = Condition ?? {};
    const keys = (patterns ?? values ?? any)?.['dynamodb:LeadingKeys'];
    const services = Condition?.StringEquals?.['kms:ViaService'];
    return {
      effect: Effect,
      actions: [Action].flat(),
      resources: [Resource].flat().map((one) => (typeof one === 'string' ? one : JSON.stringify(one))),
      leadingKeys: keys === undefined ? undefined : [keys].flat(),
      viaServices: services === undefined ? undefined : [services].flat().map(toServiceName),
    };
  });
}

/** `dynamodb` of a text, with references in it, like `dynamodb.us-east-1.amazonaws.com`. */
function toServiceName(host: unknown): string {
  return /"?(\w+)\./.exec(typeof host === 'string' ? host : JSON.stringify(host))?.[1] ?? '';
}
